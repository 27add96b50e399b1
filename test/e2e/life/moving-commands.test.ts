/**
 * The commands that change and migrate settings, run against a complete node: over its local socket, and with --url and
 * a token.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseArguments } from '../../../control-plane/cli/arguments.ts';
import { runCommand } from '../../../control-plane/cli/commands/run-command.ts';
import type { ImportReport } from '../../../shared/api/imports-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { memoryScreen } from '../../support/parts/memory-screen.ts';
import { within } from '../../support/parts/until.ts';
import * as adguard from '../../support/weir/adguard-exports.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { giveInput } from '../../support/weir/standard-input.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const WEIR = join(import.meta.dirname, '../../../control-plane/cli/weir');

let upstream: ScriptedUpstream;
let weir: Weir;
let api: ApiClient;
let udp: UdpClient;

beforeAll(async () => {
  upstream = await startEchoingUpstream();
  weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
  api = await weir.api();
  udp = await UdpClient.open(weir.dnsPort);
});
afterAll(async () => {
  udp[Symbol.dispose]();
  await weir.stop();
  await upstream.close();
});

const at = (name: string): string => join(weir.tempDir.path, name);

/** Runs a command, over the socket unless it has --url. */
async function run(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const command = parseArguments(words);
  if (command.kind !== 'run') throw new Error(JSON.stringify(command));
  const screen = memoryScreen();
  const { spec, arguments: given, options } = command;
  const socket = words.includes('--url') ? {} : { WEIR_SERVER_DATA_DIR: weir.tempDir.dataDir };
  const status = await runCommand({ name: spec.name, arguments: given, options }, screen, {
    ...socket,
    ...env,
  });
  return { status, lines: screen.lines, errors: screen.errors };
}

/** The address in the answer for a name. */
async function addressOf(name: string): Promise<string | undefined> {
  return (await udp.ask(name, 'A')).data[0] as string | undefined;
}

const BLOCKED = '0.0.0.0';

describe('weir import', () => {
  test('shows the changes of a dry run over HTTP, with --url and a token from weir tokens add', async () => {
    const made = await run(['tokens', 'add', 'mover']);
    expect([made.status, made.lines]).toEqual([0, [expect.stringMatching(/^weir_\S+$/)]]);
    const viewer = JSON.parse(
      (await run(['tokens', 'add', 'looker', '--role', 'viewer', '--json'])).lines.join('\n'),
    ) as {
      key: string;
    };
    await writeFile(at('agh.yaml'), adguard.TANGLED);
    const words = [
      'import',
      at('agh.yaml'),
      '--dry-run',
      '--url',
      `http://127.0.0.1:${String(weir.webPort)}`,
    ];
    expect(await run(words, { WEIR_TOKEN: viewer.key })).toMatchObject({ status: 1, lines: [] });
    expect((await run(words)).errors.at(-1)).toContain('specify an API token');
    const { status, lines } = await run(words, { WEIR_TOKEN: made.lines[0] });
    expect(status).toBe(0);
    expect(lines[0]).toMatch(/^RESULT +KIND +NAME +REASON$/);
    expect(lines).toContainEqual(expect.stringMatching(/^new +list rule, deny +\|\|denied\.example\^/));
    expect(lines).toContain('nothing was changed: this was a dry run');
    expect(lines).toContainEqual(expect.stringMatching(/^\[.\] +blocking\.mode +"custom_ip"/));
    expect(lines).toContainEqual(expect.stringMatching(/^- +private addresses in answers /));
    expect(await addressOf('denied.example')).toBe(EVERY_ADDRESS);
  });

  test('imports over the local socket, takes effect immediately, and can be rolled back', async () => {
    await api.createGroup('before the import');
    const before = await api.expect<{ id: number }[]>(200, 'GET', '/revisions');
    // The settings in the file would disable blocking.
    const words = ['import', at('agh.yaml'), '--settings', 'none'];
    const { lines } = await run([...words, '--format', 'adguard_home', '--json']);
    const report = JSON.parse(lines.join('\n')) as ImportReport;
    expect(report).toMatchObject({ dry_run: false, revision: expect.any(Number), counts: { changed: 0 } });
    const names = ['denied.example', 'good.denied.example', 'never.example', 'back.example'];
    const answers = await Promise.all(names.map(addressOf));
    expect(answers).toEqual([BLOCKED, EVERY_ADDRESS, BLOCKED, EVERY_ADDRESS]);
    expect((await run(words)).lines).toContain('Weir already had everything');
    await api.expect(200, 'POST', `/revisions/${String(before[0]!.id)}/rollback`);
    expect(await addressOf('denied.example')).toBe(EVERY_ADDRESS);
    await run(words);
    expect(await addressOf('denied.example')).toBe(BLOCKED);
  });

  test('applies the settings and the decisions given as command-line options', async () => {
    await writeFile(at('kept.yaml'), 'schema_version: 34\nquerylog: {interval: 240h}\n');
    const words = ['import', at('kept.yaml'), '--answers', 'starting_list:keep', '--json'];
    const none = JSON.parse((await run([...words, '--settings', 'none'])).lines.join('\n')) as ImportReport;
    expect(none.settings.filter(({ selected }) => selected)).toEqual([]);
    const one = await run([...words, '--settings', 'database.query_log_days']);
    expect(one.status).toBe(0);
    expect(await api.expect(200, 'GET', '/config')).toMatchObject({ database: { query_log_days: 10 } });
  });

  test('exits with a status code that identifies the failure', async () => {
    await writeFile(at('text'), 'hello');
    const unknown = await run(['import', at('text')]);
    expect([unknown.status, unknown.errors[0]]).toEqual([
      1,
      expect.stringContaining('does not recognise which program'),
    ]);
    expect(await run(['import', at('gone')])).toMatchObject({ status: 2 });
    expect(parseArguments(['import', 'x', '--format', 'bind'])).toMatchObject({ kind: 'mistake' });
  });
});

describe('weir backup and weir restore', () => {
  test('restore removed settings', async () => {
    const written = await run(['backup', at('weir.json')]);
    expect(written.lines).toEqual([expect.stringContaining('without secrets')]);
    expect((await stat(at('weir.json'))).mode & 0o777).toBe(0o600);
    const printed = await run(['backup']);
    const [file, shown] = [await readFile(at('weir.json'), 'utf8'), printed.lines.join('\n')].map(
      (content) => ({ ...(JSON.parse(content) as object), created_at: '' }),
    );
    expect(shown).toEqual(file);
    expect((await run(['restore', at('weir.json')])).lines).toEqual([
      'everything is already as in the backup',
    ]);

    const [list] = await api.expect<{ id: number; name: string }[]>(200, 'GET', '/blocklist-sources');
    await api.expect(204, 'DELETE', `/blocklist-sources/${String(list!.id)}`);
    expect(await addressOf('denied.example')).toBe(EVERY_ADDRESS);
    const tried = await run(['restore', at('weir.json'), '--dry-run']);
    expect(tried.lines[1]).toMatch(/^list sources +1 +0 +0 +.*AdGuard Home: own rules/);
    expect(tried.lines.at(-1)).toBe('nothing was changed: this was a dry run');
    expect((await run(['restore', at('weir.json')])).lines.at(-1)).toMatch(/^revision \d+; roll back/);
    await api.settledSource(
      (await api.expect<{ id: number }[]>(200, 'GET', '/blocklist-sources')).at(-1)!.id,
    );
    expect(await addressOf('denied.example')).toBe(BLOCKED);
  });

  test('reject a file that is not a backup', async () => {
    expect(await run(['restore', at('text')])).toMatchObject({
      status: 2,
      errors: [expect.stringContaining('not JSON')],
    });
    await writeFile(at('other.json'), '{"format": "x"}');
    expect(await run(['restore', at('other.json')])).toMatchObject({ status: 1 });
    expect(await run(['backup', at('no/such/folder')])).toMatchObject({ status: 1 });
  });
});

describe('weir simulate', () => {
  test('shows the effects of a draft rule, from options and from a file', async () => {
    await udp.ask('simulated.example', 'A');
    await api.untilQueryCount(1, 'domain=simulated.example');
    const { status, lines } = await run(['simulate', '--deny', 'simulated.example', '--period', '1h']);
    expect(status).toBe(0);
    expect(lines).toContain('newly blocked: 1 queries for 1 names by 1 clients');
    expect(lines).toContainEqual(
      expect.stringMatching(/^ +1 +0 +simulated\.example +ALLOWED +BLOCKED_MANAGED/),
    );
    await writeFile(at('draft.json'), '{"managed_domains": {"add": [{"domain": "simulated.example"}]}}');
    const read = await run(['simulate', at('draft.json'), '--json', '--limit', '1']);
    expect(JSON.parse(read.lines.join('\n'))).toMatchObject({ newly_blocked: { domains: 1 } });
    await writeFile(at('list.txt'), '||simulated.example^\n');
    const list = await run(['simulate', '--list', at('list.txt')]);
    expect(list.lines).toContain('newly blocked: 1 queries for 1 names by 1 clients');
  });

  test.each([[[]], [['--service', 'tiktok']], [['--drop', 'x']], [['--deny', 'a.test', '--limit', 'many']]])(
    'rejects the arguments %j',
    async (words) => {
      expect(await run(['simulate', ...words])).toMatchObject({ status: 2 });
    },
  );
});

test('the installed command reads standard input, and exits with its status', async () => {
  const child = spawn(WEIR, ['import', '-', '--dry-run', '--settings', 'none'], {
    env: { PATH: process.env['PATH'], WEIR_SERVER_DATA_DIR: weir.tempDir.dataDir },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
    giveInput(child.stdin, adguard.TANGLED),
  ]);
  const [out, err, [status]] = await within('weir import to end', ended);
  expect([status, err]).toEqual([0, '']);
  expect(out).toContain('adguard_home: 0 new, 0 changed, ');
});

describe('weir rules and weir revisions rollback', () => {
  test('add a rule, and roll back to the revision before the rule', async () => {
    expect(await addressOf('ruled.example')).toBe(EVERY_ADDRESS);
    await run(['groups', 'add', 'Before']);
    const [{ id }] = JSON.parse((await run(['revisions', '--json'])).lines.join('\n')) as [{ id: number }];
    await run(['rules', 'add', 'deny', '*.ruled.example']);
    expect(await addressOf('ruled.example')).toBe('0.0.0.0');
    const { status, lines } = await run(['revisions', 'rollback', String(id), '--yes']);
    expect([status, lines]).toEqual([0, [expect.stringContaining(`rolled back to revision ${id}`)]]);
    expect(await addressOf('ruled.example')).toBe(EVERY_ADDRESS);
    expect((await run(['rules'])).lines).toHaveLength(1);
  });
});
