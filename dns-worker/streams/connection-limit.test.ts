import { describe, expect, test } from '@jest/globals';
import {
  ConnectionTableLayout,
  createConnectionTable,
  releaseConnections,
} from '../../shared/memory/connection-table.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { ConnectionLimit, type ConnectionLimitOptions } from './connection-limit.ts';

const WORKERS = 3;
const CLIENT = addressFromText('192.0.2.1')!;
const OTHER = addressFromText('2001:db8::1')!;

/** The limits of workers that share a table. */
function limitsOf(
  change: Partial<ConnectionLimitOptions> = {},
  table = createConnectionTable(WORKERS, 7),
): ConnectionLimit[] {
  const options = { table, protocol: Protocol.tcp, maxPerAddress: 4, max: 1000, ...change };
  return Array.from({ length: WORKERS }, (_, worker) => new ConnectionLimit({ ...options, worker }));
}

/** Opens this many connections from an address, on the workers in turn; returns the number of accepted connections. */
function entered(limits: readonly ConnectionLimit[], address: Uint8Array, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) if (limits[i % limits.length]!.enter(address)) sum++;
  return sum;
}

describe('ConnectionLimit per address', () => {
  test('enter() applies one limit per client address across all workers', () => {
    const limits = limitsOf();
    expect(entered(limits, CLIENT, 20)).toBe(4);
    expect(entered(limits, OTHER, 20)).toBe(4);
    limits[0]!.leave(CLIENT);
    expect(entered(limits, CLIENT, 20)).toBe(1);
  });

  test('enter() counts each protocol separately', () => {
    const table = createConnectionTable(WORKERS, 7);
    expect(entered(limitsOf({}, table), CLIENT, 20)).toBe(4);
    expect(entered(limitsOf({ protocol: Protocol.dot, maxPerAddress: 2 }, table), CLIENT, 20)).toBe(2);
  });

  test('enter() without a limit per address limits only the number of connections of the thread', () => {
    const [limit] = limitsOf({ maxPerAddress: 0, max: 50 });
    expect(entered([limit!], CLIENT, 100)).toBe(50);
    limit!.leave(CLIENT);
    expect(entered([limit!], OTHER, 2)).toBe(1);
  });

  test('releaseConnections() releases only the connections of a dead thread', () => {
    const table = createConnectionTable(WORKERS, 7);
    const limits = limitsOf({}, table);
    expect(entered(limits, CLIENT, 4)).toBe(4); // The first worker has two connections.
    releaseConnections(table, 0);
    const [successor] = limitsOf({}, table);
    expect(entered([successor!], CLIENT, 20)).toBe(2);
    expect(entered(limits.slice(1), CLIENT, 20)).toBe(0);
  });

  test('enter() reuses the address entries of closed connections', () => {
    const [limit] = limitsOf({ max: 1024 });
    for (let turn = 0; turn < 20; turn++) {
      const addresses = Array.from({ length: 1024 }, (_, i) =>
        addressFromText(`10.${turn}.${i >> 8}.${i & 255}`)!,
      );
      expect(addresses.filter((address) => limit!.enter(address))).toHaveLength(1024);
      for (const address of addresses) limit!.leave(address);
    }
    expect(ConnectionTableLayout.SLOTS).toBeGreaterThanOrEqual(4 * 1024);
  });

  test('enter() and leave() give the same results as a simple count', () => {
    const step = fc.record({
      worker: fc.nat({ max: WORKERS - 1 }),
      client: fc.nat({ max: 5 }),
      enters: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const limits = limitsOf();
        const open = new Map<string, number>();
        const openOf = (client: number): number =>
          [0, 1, 2].reduce((sum, worker) => sum + (open.get(`${worker} ${client}`) ?? 0), 0);
        for (const { worker, client, enters } of steps) {
          const address = addressFromText(`192.0.2.${client}`)!;
          const key = `${worker} ${client}`;
          const own = open.get(key) ?? 0;
          if (enters) {
            const isLet = limits[worker]!.enter(address);
            expect(isLet).toBe(openOf(client) < 4);
            if (isLet) open.set(key, own + 1);
          } else if (own > 0) {
            limits[worker]!.leave(address);
            open.set(key, own - 1);
          }
        }
      }),
    );
  });
});
