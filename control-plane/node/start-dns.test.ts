import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { UdpClient } from '../../test/support/dns/dns-client.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { SMALL_BLOCKING, SMALL_ROWS, SMALL_RULES } from '../../test/support/parts/small-policy.ts';
import { testNode } from '../../test/support/parts/test-node.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { LogRing } from '../../shared/query-log.ts';
import { NodeState } from '../../shared/threads/messages.ts';
import { lockDataDir } from '../storage/db/data-dir-lock.ts';
import type { DataDirLock } from '../storage/db/data-dir-lock.ts';
import { startDatabase } from '../storage/db/database.ts';
import type { Database } from '../storage/db/database.ts';
import type { Node } from './node.ts';
import { startDns } from './start-dns.ts';
import { stopInReverse } from './stopping.ts';

let dataDir: string;
let lock: DataDirLock;
/** The database is never reachable, because no server listens on port 9. */
let database: Database;
let port: number;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-start-dns-'));
  lock = lockDataDir(dataDir);
  const urls = 'postgres://weir@127.0.0.1:9/weir';
  database = startDatabase({ urls, lock, logger: new MemoryLogger() });
  port = await freePort(['127.0.0.1']);
});
afterEach(async () => {
  await database.close();
  lock.release();
  rmSync(dataDir, { recursive: true, force: true });
});

async function addressOf(name: string): Promise<string | undefined> {
  using udp = await UdpClient.open(port);
  return (await udp.ask(name, 'A')).data[0] as string | undefined;
}

/** Starts DNS with its threads. */
async function startAll(node: Node): Promise<Awaited<ReturnType<typeof startDns>>> {
  const dns = await startDns(node);
  await dns.startThreads();
  return dns;
}

const stop = (node: Node): Promise<void> => stopInReverse(node.stops, node.logger);

describe('startDns()', () => {
  test('answers DNS without a database, from the last policy snapshot on disk, and writes log rows to the spool', async () => {
    const first = testNode(database, dataDir, 'dns.local_records = ["nas.home.arpa A 192.0.2.5"]', port);
    const { publisher, supervisor } = await startAll(first);
    expect(supervisor.nodeState()).toBe(NodeState.HOLDING);
    expect(await addressOf('nas.home.arpa')).toBe('192.0.2.5');
    await publisher.publish(SMALL_RULES, SMALL_ROWS, SMALL_BLOCKING);
    expect(await addressOf('b.example')).toBe('0.0.0.0');
    await stop(first);

    const second = testNode(database, dataDir, '', port);
    const dns = await startAll(second);
    expect(dns.supervisor.nodeState()).toBe(NodeState.READY);
    expect(dns.publisher.current().rows.regexFilters).toEqual(SMALL_ROWS.regexFilters);
    expect(await addressOf('b.example')).toBe('0.0.0.0');
    await stop(second);
    expect(readdirSync(join(dataDir, 'spool')).length).toBeGreaterThan(0);
  });

  test('starts server.workers workers and a cache of cache.max_bytes', async () => {
    const workers = availableParallelism() + 1;
    const maxBytes = 8 << 20;
    const toml = `server.workers = ${workers}\ncache.max_bytes = ${maxBytes}`;
    const node = testNode(database, dataDir, toml, port);
    const { supervisor, cacheMemory } = await startAll(node);
    expect(supervisor.memories()).toHaveLength(workers);
    expect(cacheMemory.byteLength).toBeGreaterThan(maxBytes / 2);
    expect(cacheMemory.byteLength).toBeLessThanOrEqual(maxBytes);
    await stop(node);
  });

  test.each([
    ['', 1],
    ['database.log_pressure = "drop"', 0],
  ])(
    'makes DNS threads wait for a slow query log, unless database.log_pressure is drop',
    async (toml, slow) => {
      const node = testNode(database, dataDir, toml, port);
      const { supervisor } = await startAll(node);
      const rings = supervisor.memories().flatMap(({ answerLog, resolveLog }) => [answerLog, resolveLog]);
      const words = rings.map((ring) => new Int32Array(ring, 0, LogRing.RECORDS_BYTE / 4)[LogRing.SLOW_WORD]);
      expect(new Set(words)).toEqual(new Set([slow]));
      await stop(node);
    },
  );

  test('rejects if its port is in use, and the parts that it started can be stopped', async () => {
    const other = createSocket('udp4').bind(port, '127.0.0.1');
    await once(other, 'listening');
    const node = testNode(database, dataDir, '', port);
    await expect(startAll(node)).rejects.toThrow(
      `could not listen for DNS on 127.0.0.1 port ${port}: another program uses this port`,
    );
    expect(node.stops.length).toBeGreaterThan(0);
    await stop(node);
    expect(
      node.logger.lines.filter(({ message }) => message.startsWith('could not stop a component')),
    ).toEqual([]);
    other.close();
  });
});
