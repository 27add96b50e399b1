import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { QueryStatus, type QueryStatusCode } from '../../../shared/query-log.ts';
import { readMostAsked, readNamesBelow } from './stats-store.ts';

const NOW = Date.UTC(2026, 6, 10, 12);
const HOUR_MS = 3_600_000;

let db: TestDatabase;
beforeAll(async () => {
  db = await startTestDatabase();
});
afterAll(() => db.stop());

async function log(
  domain: string,
  times: number,
  change: { status?: QueryStatusCode; node?: number; hoursAgo?: number } = {},
) {
  const { status = QueryStatus.ALLOWED, node = 1, hoursAgo = 1 } = change;
  const row = logRow({ timestampMs: NOW - hoursAgo * HOUR_MS, qname: wireName(domain), status });
  await storeRows(
    db.database,
    Array.from({ length: times }, () => row),
    node,
  );
}

describe('readMostAsked()', () => {
  test('counts the names that all nodes allowed in the last days, most frequent first', async () => {
    await log('often.example', 5);
    await log('cached.example', 7, { status: QueryStatus.CACHED });
    await log('once.example', 1);
    await log('blocked.example', 9, { status: QueryStatus.BLOCKED_LIST });
    await log('elsewhere.example', 9, { node: 2 });
    await log('old.example', 9, { hoursAgo: 7 * 24 + 1 });
    const source = logSourceOf(db.database);
    await expect(readMostAsked(source, { nowMs: NOW, days: 7, limit: 10 })).resolves.toEqual([
      'elsewhere.example',
      'cached.example',
      'often.example',
      'once.example',
    ]);
    await expect(readMostAsked(source, { nowMs: NOW, days: 7, limit: 1 })).resolves.toEqual([
      'elsewhere.example',
    ]);
  });
});

describe('readNamesBelow()', () => {
  test('returns the names at or below the given names, most frequent first, without names that only end alike', async () => {
    await log('dns.resolver.test', 1, { status: QueryStatus.BLOCKED_LIST });
    await log('resolver.test', 3);
    await log('myresolver.test', 5);
    await log('resolver.test.example', 5);
    await log('past.resolver.test', 5, { hoursAgo: 30 });
    const span = { fromMs: NOW - 24 * HOUR_MS, toMs: NOW + 1 };
    await expect(
      readNamesBelow(logSourceOf(db.database), { ...span, roots: ['resolver.test', 'none.test'] }),
    ).resolves.toEqual(['resolver.test', 'dns.resolver.test']);
  });
});
