/** Starts of Weir under difficult conditions: without koffi, with a closed output pipe, stopped during the start. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serversOn } from '../../../control-plane/storage/db/postgres/postgres-process.ts';
import { RRClass, Rcode } from '../../../shared/dns/iana.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import type { TempDir } from '../../support/weir/data-dir.ts';
import { until } from '../../support/parts/until.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const WITHOUT_KOFFI = new URL('../../support/weir/without-koffi.ts', import.meta.url);

const clusterOf = (tempDir: TempDir): string => join(tempDir.dataDir, 'postgres', 'cluster');

/** Processes of an embedded database that still use the data directory. */
function databasesOn(tempDir: TempDir): number[] {
  return existsSync(clusterOf(tempDir)) ? serversOn(clusterOf(tempDir)) : [];
}

type StartStep = readonly [string, (tempDir: TempDir, weir: Weir) => boolean];

/** Steps of a first start until its database is created, which takes most of the time. */
const FIRST_STEPS: readonly StartStep[] = [
  ['a process that runs', (_room, weir) => weir.pid > 0],
  ['a data directory', (tempDir) => existsSync(tempDir.dataDir)],
  ['files of the database', (tempDir) => existsSync(clusterOf(tempDir))],
];
/** Later steps, as in every start. */
const LATER_STEPS: readonly StartStep[] = [
  ['a process of the database', (tempDir) => databasesOn(tempDir).length > 0],
  ['answers to DNS', (_room, weir) => weir.output.includes(' is running.')],
];

describe('weir on a machine with limits', () => {
  let weir: Weir;
  beforeAll(async () => {
    weir = await Weir.start({
      env: { NODE_OPTIONS: `--import ${WITHOUT_KOFFI.href}`, WEIR_SERVER_WORKERS: '2' },
      toml: '[logging]\nlevel = "debug"\n',
    });
  });
  afterAll(() => weir.stop());

  test('answers over node:dgram if koffi does not load, and logs it once', async () => {
    expect(weir.output.match(/using node:dgram/g)).toHaveLength(1);
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    expect((await weir.health()).body).toMatchObject({ checks: { dns: { status: 'ok' } } });
  });

  test('keeps answering when the process that reads its program log has exited', async () => {
    weir.closeOutput();
    // A login writes a line to the log.
    await weir.api();
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    expect((await weir.health()).body).toMatchObject({ checks: { dns: { status: 'ok' } } });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });
});

describe('weir while it starts', () => {
  test('writes every log line as JSON, including the first, if logging.format is json', async () => {
    await using weir = await Weir.start({ toml: '[logging]\nformat = "json"\n' });
    await weir.stop();
    const lines = weir.output.trimEnd().split('\n');
    const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
    expect(messages).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Weir \S+ is running\.$/), 'stopping']),
    );
  });

  test('exits when it is stopped, and leaves no database process', async () => {
    for (const step of [...FIRST_STEPS, ...LATER_STEPS]) {
      const [what, isReached] = step;
      const tempDir = makeTempDir();
      if (LATER_STEPS.includes(step)) await prepareDataDir(tempDir.dataDir);
      await using weir = await Weir.launch({ tempDir, database: 'later' });
      await until(what, () => isReached(tempDir, weir), Boolean, { pauseMs: 1 });
      const { code, signal } = await weir.end('SIGTERM');
      // A signal ends the process immediately if the process does not handle signals yet.
      expect([what, [0, 'SIGTERM'].includes(code ?? signal!), weir.output]).toEqual([
        what,
        true,
        weir.output,
      ]);
      expect(databasesOn(tempDir)).toEqual([]);
      tempDir.remove();
    }
  });
});
