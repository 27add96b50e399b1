/** How Weir starts: without koffi, with a reader that goes away, told to stop while it starts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { serversOn } from '../../../control-plane/db/postgres/postgres-process.ts';
import { RRClass, Rcode } from '../../../shared/dns/iana.ts';
import { makeTempDir } from '../../support/weir/data-dir.ts';
import type { TempDir } from '../../support/weir/data-dir.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const WITHOUT_KOFFI = new URL('../../support/weir/without-koffi.ts', import.meta.url);

/** Processes of an embedded database that still work on the data directory. */
function databasesOn(room: TempDir): number[] {
  const cluster = join(room.dataDir, 'postgres', 'cluster');
  return existsSync(cluster) ? serversOn(cluster) : [];
}

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

  test('weir that is told to stop while it starts ends, and leaves no database behind', async () => {
    for (const delayMs of [200, 450, 700, 950]) {
      const room = makeTempDir();
      await using weir = await Weir.launch({ room, database: 'later' });
      await sleep(delayMs);
      const { code, signal } = await weir.end('SIGTERM');
      // Before it listens to signals, one ends it as it ends any program.
      expect([0, 'SIGTERM']).toContain(code ?? signal);
      expect(databasesOn(room)).toEqual([]);
      room.remove();
    }
  });
});
