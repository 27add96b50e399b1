/**
 * `weir ready` and the scripts of deploy/addresses, with one Weir server that expects PROXY headers from this machine,
 * and with one that expects none.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/parts/until.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { OwnProcess, Weir } from '../support/weir/weir-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CHECK_WEIR = join(ROOT, 'deploy', 'addresses', 'check-weir');
const ANNOUNCE_WEIR = join(ROOT, 'deploy', 'addresses', 'announce-weir');
const PROXY = '[server]\nproxy_protocol_enabled = true\nproxy_protocol_trusted = ["127.0.0.0/8"]\n';

/** Exit status of a program. */
const statusOf = (command: string, args: readonly string[], port: number): number | null =>
  spawnSync(command, args, {
    env: { PATH: process.env['PATH'], WEIR_DNS_PORT: String(port) },
  }).status;

describe.each([
  ['that accepts plain queries', ''],
  ['that expects a PROXY header from this machine', PROXY],
])('a Weir %s', (_what, toml) => {
  const stack = new AsyncDisposableStack();
  let weir: Weir;
  beforeAll(async () => {
    const env =
      toml === ''
        ? {}
        : { WEIR_SERVER_PROXY_PROTOCOL_ENABLED: 'true', WEIR_SERVER_PROXY_PROTOCOL_TRUSTED: '127.0.0.0/8' };
    weir = stack.use(await Weir.start({ env, database: 'later' }));
    await until(
      'check-weir to succeed',
      () => statusOf(CHECK_WEIR, [], weir.dnsPort),
      (status) => status === 0,
      {
        pauseMs: 100,
      },
    );
  });
  afterAll(() => stack.disposeAsync());

  test('is reported as ready by weir ready', () => {
    const file = join(weir.tempDir.path, 'probed.toml');
    const own = `dns_port = ${weir.dnsPort}\nbind_address = ["127.0.0.1"]\n`;
    writeFileSync(file, toml === '' ? `[server]\n${own}` : toml + own);
    expect(
      statusOf(join(ROOT, 'control-plane', 'cli', 'weir'), ['ready', '--config', file], weir.dnsPort),
    ).toBe(0);
  });

  test('is announced by announce-weir until it stops', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-announced-'));
    stack.defer(() => rmSync(folder, { recursive: true }));
    const log = join(folder, 'log');
    writeFileSync(log, '');
    // Stands in for the command of bird.
    writeFileSync(join(folder, 'birdc'), `#!/bin/sh\necho "$3" >>${log}\n`);
    chmodSync(join(folder, 'birdc'), 0o755);
    const announcer = stack.use(
      new OwnProcess(ANNOUNCE_WEIR, [], {
        env: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, WEIR_DNS_PORT: String(weir.dnsPort) },
      }),
    );
    const untilLast = (word: string) =>
      until(
        `the route to be ${word}d`,
        () => readFileSync(log, 'utf8').trimEnd().split('\n').at(-1),
        (last) => last === word,
      );
    await untilLast('enable');
    await weir.end('SIGTERM');
    await untilLast('disable');
    await announcer.end('SIGTERM');
  });
});

test('check-weir exits with an error if no server listens', async () => {
  expect(statusOf(CHECK_WEIR, [], await freePort(['127.0.0.1']))).toBe(1);
});
