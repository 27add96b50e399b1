/** How Weir starts: without koffi, with a reader that goes away, stopped while it starts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { serversOn } from '../../../control-plane/db/postgres/postgres-process.ts';
import { RRClass, Rcode } from '../../../shared/dns/iana.ts';
import { makeTempDir } from '../../support/weir/data-dir.ts';
import type { TempDir } from '../../support/weir/data-dir.ts';
import { until } from '../../support/parts/until.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const WITHOUT_KOFFI = new URL('../../support/weir/without-koffi.ts', import.meta.url);

const clusterOf = (room: TempDir): string => join(room.dataDir, 'postgres', 'cluster');

/** Processes of an embedded database that still work on the data directory. */
function databasesOn(room: TempDir): number[] {
  return existsSync(clusterOf(room)) ? serversOn(clusterOf(room)) : [];
}

/** Steps of a first start, in their order. */
const START_STEPS: readonly (readonly [string, (room: TempDir, weir: Weir) => boolean])[] = [
  ['a process that runs', (_room, weir) => weir.pid > 0],
  ['a data directory', (room) => existsSync(room.dataDir)],
  ['files of the database', (room) => existsSync(clusterOf(room))],
  ['a process of the database', (room) => databasesOn(room).length > 0],
  ['answers to DNS', (_room, weir) => weir.output.includes(' answers.')],
];

describe('weir while it starts and after', () => {
  test('weir goes on over node:dgram where koffi does not load, and says so once', async () => {
    await using weir = await Weir.start({
      env: { NODE_OPTIONS: `--import ${WITHOUT_KOFFI.href}`, WEIR_SERVER_WORKERS: '2' },
    });
    expect(weir.output.match(/answer over node:dgram/g)).toHaveLength(1);
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    expect((await weir.health()).body).toMatchObject({ status: 'ok' });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  test('weir goes on answering when the reader of its log has gone away', async () => {
    await using weir = await Weir.start({ toml: '[logging]\nlevel = "debug"\n' });
    weir.deafen();
    // Signing in writes to the log.
    await weir.api();
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    expect((await weir.health()).body).toMatchObject({ status: 'ok' });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  test('weir that is stopped while it starts ends, and leaves no database behind', async () => {
    for (const [what, isReached] of START_STEPS) {
      const room = makeTempDir();
      await using weir = await Weir.launch({ room, database: 'later' });
      await until(what, () => isReached(room, weir), Boolean, { pauseMs: 1 });
      const { code, signal } = await weir.end('SIGTERM');
      // Before it listens to signals, one ends it as it ends any program.
      expect([0, 'SIGTERM']).toContain(code ?? signal);
      expect(databasesOn(room)).toEqual([]);
      room.remove();
    }
  });
});
