/** Counts by name and client. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { QueryStatus } from '../../../shared/query-log.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { sumClients, sumNames, type SumRequest } from './log-sums.ts';

const NOON_MS = Date.UTC(2026, 6, 5, 12);
const HALF_HOUR_MS = 1_800_000;

let own: TestDatabase;
/**
 * One row per minute for an hour, with four names and three clients; every fourth row is blocked, every fifth failed.
 */
beforeAll(async () => {
  own = await startTestDatabase();
  const rows = Array.from({ length: 60 }, (_, i) => {
    const isBlocked = i % 4 === 0;
    return logRow({
      timestampMs: NOON_MS + i * 60_000,
      client: Uint8Array.of(192, 0, 2, i % 3),
      qname: wireName(`n${i % 4}.example`),
      status: isBlocked ? QueryStatus.BLOCKED_LIST : i % 5 === 0 ? QueryStatus.SERVFAIL : QueryStatus.CACHED,
    });
  });
  await storeRows(own.database, rows.slice(0, 45));
  await storeRows(own.database, rows.slice(45), 2);
});
afterAll(() => own.stop());

function request(change: Partial<SumRequest> = {}): SumRequest {
  return {
    fromUs: NOON_MS * 1000,
    toUs: (NOON_MS + 2 * HALF_HOUR_MS) * 1000,
    filter: {},
    onDamaged: (block, reason) => {
      throw new Error(`${block}: ${reason}`);
    },
    ...change,
  };
}

const all = Array.from({ length: 60 }, (_, i) => i);

function namesOf(rows: readonly number[]): Record<string, unknown> {
  const found: Record<string, { resolved: number; blocked: number; other: number }> = {};
  for (const i of rows) {
    const sum = (found[`n${i % 4}.example`] ??= { resolved: 0, blocked: 0, other: 0 });
    sum[i % 4 === 0 ? 'blocked' : i % 5 === 0 ? 'other' : 'resolved']++;
  }
  return found;
}

function clientsOf(rows: readonly number[]): Record<string, unknown> {
  const found: Record<string, { queries: number; blocked: number }> = {};
  for (const i of rows) {
    const sum = (found[`192.0.2.${i % 3}`] ??= { queries: 0, blocked: 0 });
    sum.queries++;
    if (i % 4 === 0) sum.blocked++;
  }
  return found;
}

const CASES: [string, Partial<SumRequest>, (i: number) => boolean][] = [
  ['all blocks', {}, () => true],
  ['the rows of a span within blocks', { toUs: (NOON_MS + HALF_HOUR_MS) * 1000 }, (i) => i < 30],
  ['one client', { filter: { client: '192.0.2.1' } }, (i) => i % 3 === 1],
  ['one node', { nodeId: 2 }, (i) => i >= 45],
  ['nothing', { toUs: NOON_MS * 1000 }, () => false],
];

describe('sumNames()', () => {
  test.each(CASES)('counts %s', async (_, change, isWanted) => {
    expect(Object.fromEntries(await sumNames(own.database, request(change)))).toEqual(
      namesOf(all.filter(isWanted)),
    );
  });
});

describe('sumClients()', () => {
  test.each(CASES)('counts %s', async (_, change, isWanted) => {
    expect(Object.fromEntries(await sumClients(own.database, request(change)))).toEqual(
      clientsOf(all.filter(isWanted)),
    );
  });

  test('leaves out a damaged block, and reports which one', async () => {
    await own.database.query(
      `UPDATE query_blocks SET head = set_byte(head, 20, get_byte(head, 20) # 1) WHERE node_id = 2`,
    );
    const damaged: string[] = [];
    const onDamaged = (block: string, reason: string): void => void damaged.push(`${block} ${reason}`);
    const sums = await sumClients(own.database, request({ onDamaged }));
    expect(Object.fromEntries(sums)).toEqual(clientsOf(all.slice(0, 45)));
    expect(damaged).toEqual([
      expect.stringMatching(/^\d+\.0 could not read a block: the checksum of frame 0 is wrong$/),
    ]);
  });
});
