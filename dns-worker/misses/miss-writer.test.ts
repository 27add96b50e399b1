import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../shared/clock.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { MISS_RING_BYTES, MissFlags, MissRecord, NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { rateLimitOf } from '../../test/support/parts/test-rate-limit.ts';
import { ClientNetworks } from '../policy/client-networks.ts';
import type { UdpBatch } from '../listeners/udp-batch.ts';
import { type Miss, MissReader } from './miss-reader.ts';
import { MissRecords } from './miss-records.ts';
import { MissWriter, networkSlot } from './miss-writer.ts';
import { Query } from '../query/query.ts';
import { ThreadGuard } from '../report/thread-guard.ts';

const control = new Int32Array(WorkerControl.BYTES >>> 2);
const guard = new ThreadGuard({ count: () => undefined }, systemClock, new MemoryLogger());
const networks = new ClientNetworks(createRateBuckets(false, 42), rateLimitOf({}));
/** Replaces the origin of datagrams, which the kernel would report. */
const nowhere = { socketIndex: 0, copyOrigin: () => undefined } as unknown as UdpBatch;

/** Writes queries of one client until one is refused; returns the number of queries written. */
function fill(writer: MissWriter, client: string, hasValidCookie = false): number {
  const query = new Query();
  query.clientBytes = addressFromText(client)!;
  query.protocol = Protocol.udp;
  query.hasValidCookie = hasValidCookie;
  let taken = 0;
  while (writer.write(query, nowhere, 0, 1)) taken++;
  return taken;
}

describe('MissWriter, which passes cache misses to the resolve thread,', () => {
  test('write() lets a network use half of the ring, counts adjacent networks towards that half, and leaves space for the rest', () => {
    const writer = new MissWriter(new SharedArrayBuffer(MISS_RING_BYTES), control, networks);
    expect(fill(writer, '192.0.2.1')).toBe(2048);
    expect(fill(writer, '192.0.2.254')).toBe(0);
    expect(fill(writer, '198.51.100.1')).toBe(1024);
    expect(fill(writer, '2001:db8::1')).toBe(512);
    expect(fill(writer, '2001:db8:0:ffff::1')).toBe(0);
  });

  test("write() has space for a client with a cookie even after forged queries from the client's address filled their share", () => {
    const writer = new MissWriter(new SharedArrayBuffer(MISS_RING_BYTES), control, networks);
    fill(writer, '192.0.2.1');
    expect(fill(writer, '192.0.2.1', true)).toBe(1024);
  });

  test('write() accepts more records from a network once the earlier records of the network were read', async () => {
    const ring = new SharedArrayBuffer(MISS_RING_BYTES);
    const writer = new MissWriter(ring, control, networks);
    fill(writer, '192.0.2.1');
    writer.publish();
    const reader = new MissReader(ring, control, guard);
    let read = 0;
    reader.stop();
    await reader.run(() => read++);
    expect(read).toBe(2048);
    expect(fill(writer, '192.0.2.1')).toBe(2048);
  });

  test('write() records which policy snapshot allowed the query, unless the name is an alias', async () => {
    const ring = new SharedArrayBuffer(MISS_RING_BYTES);
    const writer = new MissWriter(ring, control, networks);
    const query = new Query();
    query.clientBytes = addressFromText('192.0.2.1')!;
    query.protocol = Protocol.udp;
    writer.write(query, nowhere, 0, 7);
    query.aliasLength = 1;
    writer.write(query, nowhere, 0, 7);
    writer.publish();
    const reader = new MissReader(ring, control, guard);
    const versions: number[] = [];
    reader.stop();
    await reader.run(({ passedVersion }) => versions.push(passedVersion));
    expect(versions).toEqual([7, NOT_PASSED]);
  });

  test('write() of a replacement thread does not count records of the dead thread against a network', () => {
    const ring = new SharedArrayBuffer(MISS_RING_BYTES);
    const dead = new MissWriter(ring, control, networks);
    fill(dead, '192.0.2.1');
    dead.publish();
    expect(fill(new MissWriter(ring, control, networks), '192.0.2.1')).toBe(1024);
  });

  test('writeRecord() passes on a query that waited in the answer thread, with its outcome', async () => {
    const ring = new SharedArrayBuffer(MISS_RING_BYTES);
    const writer = new MissWriter(ring, control, networks);
    const query = new Query();
    query.clientBytes = addressFromText('192.0.2.1')!;
    query.arrivedMonotonicMs = 12.5;
    query.dnssecOk = true;
    const records = new MissRecords(new ArrayBuffer(2 * MissRecord.SIZE));
    records.write(MissRecord.SIZE, query, nowhere, 0, 7);
    for (const flags of [0, MissFlags.SILENT, MissFlags.TRUNCATED, MissFlags.EXPOSED])
      writer.writeRecord(records.bytes, MissRecord.SIZE, 5, flags);
    writer.publish();
    const reader = new MissReader(ring, control, guard);
    const misses: Miss[] = [];
    reader.stop();
    await reader.run((miss) => misses.push(miss));
    expect(misses.map(({ firstTry }) => firstTry)).toEqual([null, 'silent', 'truncated', 'exposed']);
    for (const miss of misses)
      expect(miss).toMatchObject({ arrivedMonotonicMs: 12.5, dnssecOk: true, passedVersion: 7 });
    // The record that is copied has no outcome itself.
    expect(records.has(MissRecord.SIZE, MissFlags.SILENT | MissFlags.TRUNCATED | MissFlags.EXPOSED)).toBe(
      false,
    );
  });

  test('writeRecord() lets a network use at most half of the ring, including queries without a waiting client', () => {
    const writer = new MissWriter(new SharedArrayBuffer(MISS_RING_BYTES), control, networks);
    const query = new Query();
    query.clientBytes = addressFromText('192.0.2.1')!;
    query.protocol = Protocol.udp;
    const network = networkSlot(networks, query);
    for (let i = 0; i < 1000; i++) writer.write(query, nowhere, 0, 1);
    const record = new Uint8Array(MissRecord.SIZE);
    let taken = 0;
    while (writer.writeRecord(record, 0, network, 0)) taken++;
    expect(taken).toBe(1048);
  });
});
