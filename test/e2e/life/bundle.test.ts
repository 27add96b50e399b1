/** The bundle that releases run. Each thread starts from a separate file of the bundle. */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCommand } from '../../../control-plane/cli/commands/run-command.ts';
import type { Simulation } from '../../../shared/api/policy/simulate-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { memoryScreen } from '../../support/parts/memory-screen.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BUILD = join(ROOT, 'deploy/build/bundle.ts');
const COMMAND = join(ROOT, 'control-plane/cli/weir');

describe('the weir command', () => {
  let root: string;
  /** The program of the bundle that Node runs. */
  const program = async (): Promise<string> => {
    const { stdout } = await promisify(execFile)(join(root, 'control-plane/cli/weir'), ['start']);
    return stdout.trim();
  };
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'weir-command-'));
    for (const folder of ['config', 'control-plane/cli', 'dist', 'dns-worker', 'node_modules/.bin', 'shared'])
      await mkdir(join(root, folder), { recursive: true });
    await copyFile(COMMAND, join(root, 'control-plane/cli/weir'));
    await writeFile(join(root, 'node_modules/.bin/node'), '#!/bin/sh\nshift 5\necho "$1"\n');
    await chmod(join(root, 'node_modules/.bin/node'), 0o755);
    await writeFile(join(root, 'package-lock.json'), '{}');
    await writeFile(join(root, 'shared/source.ts'), '');
    await utimes(join(root, 'control-plane/cli/weir'), 1, 1);
    await utimes(join(root, 'shared/source.ts'), 1, 1);
  });
  afterAll(() => rm(root, { recursive: true }));

  test('runs the sources if there is no bundle', async () => {
    expect(await program()).toBe(join(root, 'control-plane/main.ts'));
  });

  test('runs the bundle unless a source is newer; a release always runs its bundle', async () => {
    await writeFile(join(root, 'dist/main.js'), '');
    expect(await program()).toBe(join(root, 'dist/main.js'));
    await utimes(join(root, 'dist/main.js'), 0, 0);
    expect(await program()).toBe(join(root, 'control-plane/main.ts'));
    await rm(join(root, 'package-lock.json'));
    expect(await program()).toBe(join(root, 'dist/main.js'));
  });
});

describe('the bundle of the program', () => {
  let dist: string;
  let upstream: ScriptedUpstream;
  let lists: ListServer;
  let weir: Weir;
  let api: ApiClient;
  let udp: UdpClient;

  beforeAll(async () => {
    await mkdir(join(ROOT, 'data'), { recursive: true });
    dist = await mkdtemp(join(ROOT, 'data', 'bundle-')); // Below the root, so that Node finds the packages.
    await promisify(execFile)(process.execPath, [BUILD, ROOT, dist]);
    upstream = await startEchoingUpstream();
    lists = await startListServer();
    weir = await Weir.start({
      program: join(dist, 'main.js'),
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
    });
    api = await weir.api();
    udp = await UdpClient.open(weir.dnsPort);
  });
  afterAll(async () => {
    udp[Symbol.dispose]();
    await weir.stop();
    await Promise.all([upstream.close(), lists.close(), rm(dist, { recursive: true })]);
  });

  /** The address in the answer for a name. */
  const addressOf = async (name: string): Promise<unknown> => (await udp.ask(name, 'A')).data[0];

  test('forwards queries, compiles a list, blocks its names, and logs', async () => {
    expect(await addressOf('listed.example')).toBe(EVERY_ADDRESS);
    lists.serve('/list.txt', 'listed.example\n');
    const { id } = await api.addSource({ name: 'list', url: lists.url('/list.txt') });
    expect(await api.settledSource(id)).toMatchObject({ status: 'ok', rules: 1 });
    expect(await addressOf('listed.example')).toBe('0.0.0.0');
    expect(await api.untilQueryCount(2, 'domain=listed.example')).toBe(2);
  });

  test('simulates a rule with the queries of the log', async () => {
    const add = [{ domain: 'listed.example', action: 'allow' }];
    const draft = { managed_domains: { add }, period: '1h' };
    const { newly_allowed: allowed } = await api.expect<Simulation>(200, 'POST', '/simulate', draft);
    expect(allowed).toMatchObject({ queries: 2 });
  });

  test("plans an import of another server's settings", async () => {
    const file = join(weir.tempDir.path, 'names.txt');
    await writeFile(file, '192.0.2.1 imported.example\n');
    const screen = memoryScreen();
    const command = { name: 'import', arguments: [file], options: { 'dry-run': true } } as const;
    const status = await runCommand(command, screen, { WEIR_SERVER_DATA_DIR: weir.tempDir.dataDir });
    expect({ status, errors: screen.errors }).toEqual({ status: 0, errors: [] });
    expect(screen.lines).toContainEqual(expect.stringContaining('imported.example'));
  });
});
