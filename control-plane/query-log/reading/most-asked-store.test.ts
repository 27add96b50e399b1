import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { readMostAsked } from './most-asked-store.ts';

const NOW = Date.UTC(2026, 6, 10, 12);
const HOUR_MS = 3_600_000;

let db: TestDatabase;
beforeAll(async () => {
  db = await startTestDatabase();
  await db.database.query(`CREATE TABLE query_log_all PARTITION OF query_log DEFAULT`);
});
afterAll(() => db.stop());

async function log(
  domain: string,
  times: number,
  change: { status?: number; node?: number; hoursAgo?: number } = {},
) {
  const { status = QueryStatus.ALLOWED, node = 1, hoursAgo = 1 } = change;
  await db.database.query(
    `INSERT INTO query_log ("timestamp", node_id, group_id, response_time_us, type, rcode, status, protocol,
       dnssec, cached, client, domain)
     SELECT $1, $2, 1, 10, 1, 0, $3, 0, 0, false, '192.0.2.1', $4 FROM generate_series(1, $5::integer)`,
    [new Date(NOW - hoursAgo * HOUR_MS), node, status, domain, times],
  );
}

describe('readMostAsked()', () => {
  test('counts what this node allowed in the last seven days, most asked first', async () => {
    await log('often.example', 5);
    await log('cached.example', 7, { status: QueryStatus.CACHED });
    await log('once.example', 1);
    await log('blocked.example', 9, { status: QueryStatus.BLOCKED_LIST });
    await log('elsewhere.example', 9, { node: 2 });
    await log('old.example', 9, { hoursAgo: 7 * 24 + 1 });
    await expect(readMostAsked(db.database, 1, NOW, 10)).resolves.toEqual([
      'cached.example',
      'often.example',
      'once.example',
    ]);
    await expect(readMostAsked(db.database, 1, NOW, 1)).resolves.toEqual(['cached.example']);
  });
});
