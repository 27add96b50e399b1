import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { logSourceOf, storeRows } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { DnssecStatus, Protocol, QueryStatus } from '../../../shared/query-log.ts';
import { claimNode, nodeIdOf } from '../../storage/cluster/node-store.ts';
import type { LogSource } from './log-source.ts';
import { InvalidCursor } from './query-log-cursor.ts';
import type { QueryLogRequest } from './page-scan.ts';
import { readQueryLog } from './query-log-store.ts';

const NOON = Date.UTC(2026, 6, 5, 12);
const HOUR_MS = 3_600_000;
let own: TestDatabase;
let log: LogSource;

/** 300 rows at intervals of a minute, over five hours that belong to two days; every tenth row is blocked. */
beforeAll(async () => {
  own = await startTestDatabase();
  log = logSourceOf(own.database);
  const [uuid, run] = [randomUUID(), randomUUID()];
  await claimNode(own.database, { name: 'alpha', version: '1', uuid, run }, true);
  const rows = Array.from({ length: 300 }, (_, i) => {
    const isBlocked = i % 10 === 0;
    return logRow({
      timestampMs: NOON + 12 * HOUR_MS - i * 60_000,
      client: Uint8Array.of(192, 0, 2, i % 3),
      qname: wireName(isBlocked ? 'ads_100%.example.com' : `host-${i % 7}.example.org`),
      qtype: i % 2 === 0 ? 1 : 28,
      status: isBlocked ? QueryStatus.BLOCKED_LIST : i % 5 === 1 ? QueryStatus.ALLOWED : QueryStatus.CACHED,
      cached: !isBlocked && i % 5 !== 1,
      rcode: isBlocked ? 3 : 0,
      protocol: i % 4 === 0 ? Protocol.tcp : Protocol.udp,
      responseTimeUs: i,
      groupId: 1 + (i % 2),
      blockSource: isBlocked ? 'test list' : null,
      upstream: i % 5 === 1 ? 'udp://192.0.2.53:53' : null,
    });
  });
  await storeRows(own.database, rows, nodeIdOf('alpha'));
});
afterAll(() => own.stop());

/** The returned rows, identified by their response time. */
async function numbers(request: Partial<QueryLogRequest>): Promise<number[]> {
  const page = await readQueryLog(log, { limit: 1000, offset: 0, ...request });
  expect(page.data.length).toBe(page.total);
  return page.data.map((row) => row.response_time_us);
}

const all = Array.from({ length: 300 }, (_, i) => i);

describe('readQueryLog()', () => {
  test('returns the newest rows first, across days', async () => {
    expect(await numbers({})).toEqual(all);
  });

  test('returns the rows of a period, and no rows at the time of its end', async () => {
    const fromMs = NOON + 8 * HOUR_MS;
    const toMs = NOON + 9 * HOUR_MS;
    const times = all.map((i) => NOON + 12 * HOUR_MS - i * 60_000);
    expect(await numbers({ fromMs, toMs })).toEqual(
      all.filter((i) => times[i]! >= fromMs && times[i]! < toMs),
    );
  });

  const isBlocked = (i: number): boolean => i % 10 === 0;
  test.each<[string, Partial<QueryLogRequest>, (i: number) => boolean]>([
    ['a part of the name, any case', { domain: 'HOST-3.' }, (i) => !isBlocked(i) && i % 7 === 3],
    ['% and _ as ordinary characters', { domain: 's_100%' }, isBlocked],
    ['% that is not a wildcard', { domain: 'a%e' }, () => false],
    ['a client', { client: '192.0.2.1' }, (i) => i % 3 === 1],
    ['a network of clients', { client: '192.0.2.0/31' }, (i) => i % 3 < 2],
    ['a group', { group_id: 2 }, (i) => i % 2 === 1],
    ['a type', { type: 'aaaa' }, (i) => i % 2 === 1],
    ['an unknown type', { type: 'NONSENSE' }, () => false],
    ['a status', { status: 'BLOCKED_LIST' }, isBlocked],
    ['the status with the code 0', { status: 'ALLOWED' }, (i) => !isBlocked(i) && i % 5 === 1],
    ['an rcode', { rcode: 'nxdomain' }, isBlocked],
    ['a protocol', { protocol: 'tcp' }, (i) => i % 4 === 0],
    ['an upstream', { upstream: 'udp://192.0.2.53:53' }, (i) => i % 5 === 1],
    ['a DNSSEC state', { dnssec: 'secure' }, () => false],
    ['all but a part of the name', { not: { domain: 'HOST-3.' } }, (i) => isBlocked(i) || i % 7 !== 3],
    ['all but a client', { not: { client: '192.0.2.1' } }, (i) => i % 3 !== 1],
    ['all but a network', { not: { client: '192.0.2.0/31' } }, (i) => i % 3 === 2],
    ['all but a group', { not: { group_id: 2 } }, (i) => i % 2 === 0],
    ['all but a type', { not: { type: 'aaaa' } }, (i) => i % 2 === 0],
    ['all but a status', { not: { status: 'BLOCKED_LIST' } }, (i) => !isBlocked(i)],
    ['all but an rcode', { not: { rcode: 'nxdomain' } }, (i) => !isBlocked(i)],
    ['all but a protocol', { not: { protocol: 'tcp' } }, (i) => i % 4 !== 0],
    ['all but an upstream', { not: { upstream: 'udp://192.0.2.53:53' } }, (i) => i % 5 !== 1],
    ['all but a DNSSEC state', { not: { dnssec: 'unchecked' } }, () => false],
    ['all but a node', { notNode: 'alpha' }, () => false],
    ['all but an unknown node', { notNode: 'beta' }, () => true],
    [
      'a condition and several that exclude',
      { type: 'A', not: { status: 'BLOCKED_LIST', client: '192.0.2.0' } },
      (i) => i % 2 === 0 && !isBlocked(i) && i % 3 !== 0,
    ],
    ['a node', { node: 'alpha' }, () => true],
    ['an unknown node', { node: 'beta' }, () => false],
    [
      'several at once',
      { status: 'BLOCKED_LIST', type: 'A', client: '192.0.2.0' },
      (i) => isBlocked(i) && i % 3 === 0,
    ],
  ])('filters by %s', async (_, request, expected) => {
    expect(await numbers(request)).toEqual(all.filter(expected));
  });

  test('returns pages by offset without gaps or duplicates', async () => {
    const seen: number[] = [];
    for (let offset = 0; offset <= 300; offset += 70) {
      const page = await readQueryLog(log, { limit: 70, offset });
      expect(page).toMatchObject({ total: 300, limit: 70, offset });
      seen.push(...page.data.map((row) => row.response_time_us));
    }
    expect(seen).toEqual(all);
  });

  test('returns pages by cursor without gaps or duplicates while rows are added', async () => {
    const seen: number[] = [];
    let cursor: string | null | undefined;
    do {
      const request = { limit: 130, offset: 0, type: 'A', ...(cursor ? { cursor } : {}) };
      const page = await readQueryLog(log, request);
      seen.push(...page.data.map((row) => row.response_time_us));
      expect(page.total).toBe(150);
      cursor = page.next_cursor;
      await storeRows(own.database, [logRow({ timestampMs: NOON + 13 * HOUR_MS, qtype: 65 })]);
    } while (cursor);
    expect(seen).toEqual(all.filter((i) => i % 2 === 0));
    await own.database.query('DELETE FROM query_blocks WHERE first_time >= $1', [
      new Date(NOON + 13 * HOUR_MS),
    ]);
  });

  test('returns each row once if rows with the same time are on two pages', async () => {
    const rows = Array.from({ length: 5 }, (_, i) =>
      logRow({ timestampMs: NOON - HOUR_MS + 0.25, qtype: 65, responseTimeUs: i }),
    );
    await storeRows(own.database, rows, nodeIdOf('alpha'));
    const seen: number[] = [];
    let cursor: string | null | undefined;
    do {
      const request: QueryLogRequest = { limit: 2, offset: 0, type: 'HTTPS', ...(cursor && { cursor }) };
      const page = await readQueryLog(log, request);
      seen.push(...page.data.map((row) => row.response_time_us));
      cursor = page.next_cursor;
    } while (cursor);
    expect(seen).toEqual([4, 3, 2, 1, 0]);
    await own.database.query('DELETE FROM query_blocks WHERE first_time < $1', [new Date(NOON)]);
  });

  test('returns the codes of a row as words', async () => {
    const row = logRow({
      timestampMs: NOON - HOUR_MS + 0.25,
      qtype: 65280,
      protocol: Protocol.doh,
      status: QueryStatus.BLOCKED_LIST,
      rcode: 3,
      dnssec: DnssecStatus.bogus,
      blockSource: 'test list',
      blockRule: '||example.org^',
      answers: Uint8Array.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 9),
    });
    await storeRows(own.database, [row], nodeIdOf('alpha'));
    for (const request of [{ type: 'type65280' }, { dnssec: 'bogus' as const }]) {
      const page = await readQueryLog(log, { limit: 9, offset: 0, ...request });
      expect(page.data).toEqual([
        expect.objectContaining({
          timestamp: new Date(NOON - HOUR_MS).toISOString(),
          node: 'alpha',
          client: '192.0.2.7',
          client_hostname: null,
          domain: 'www.example.org',
          type: 'TYPE65280',
          protocol: 'doh',
          status: 'BLOCKED_LIST',
          block_source: 'test list',
          block_rule: '||example.org^',
          rcode: 'NXDOMAIN',
          dnssec_status: 'bogus',
          answers: [{ name: 'www.example.org', type: 'A', ttl: 60, data: '192.0.2.9' }],
        }),
      ]);
    }
    await own.database.query('DELETE FROM query_blocks WHERE first_time < $1', [new Date(NOON)]);
  });

  test('refuses a cursor that it did not create', async () => {
    const attempt = readQueryLog(log, { limit: 1, offset: 0, cursor: 'bm9uc2Vuc2U' });
    await expect(attempt).rejects.toBeInstanceOf(InvalidCursor);
  });

  test('returns an empty page for a log without partitions', async () => {
    const page = await readQueryLog(log, { limit: 10, offset: 0, fromMs: 0, toMs: 1 });
    expect(page).toEqual({
      data: [],
      total: 0,
      total_queries: 0,
      limit: 10,
      offset: 0,
      next_cursor: null,
      prev_cursor: null,
      damaged_blocks: 0,
    });
  });
});
