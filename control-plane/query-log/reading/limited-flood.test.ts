/**
 * Compares the results of all readers of the log, for rows that represent several queries, with a count of all queries.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { PROTOCOL_NAMES, QUERY_STATUS_NAMES, QueryStatus } from '../../../shared/query-log.ts';
import { rcodeName, rrTypeName } from '../../../shared/dns/iana.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import {
  arbitraryFloodQuery,
  FLOOD_CLIENTS,
  type FloodQuery,
  floodRow,
  PREFIXES,
  rowsExpected,
} from '../../../test/support/parts/flood-rows.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { FIRST_DAY, FIRST_DAY_MS } from '../../../test/support/parts/rows-of-days.ts';
import { batchesOf, logSourceOf } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase, type TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { Bucket } from '../statistics/counts-reader.ts';
import { readSummary, readTopClients, readTopDomains } from '../statistics/stats-store.ts';
import { readTimelineCounts, type TimelineRequest } from '../statistics/timeline.ts';
import { READ_LIMITS, readQuestions } from '../logged-questions/read-questions.ts';
import { BlockGatherer, DAY_MS } from '../store/block-gatherer.ts';
import { storeBlock } from '../store/block-store.ts';
import { MergeUpkeep } from '../upkeep/merge-upkeep.ts';
import { NameFolding } from '../upkeep/name-folding.ts';
import { readClientSlots } from './client-slots.ts';
import { exportQueries } from './log-export.ts';
import type { LogSource } from './log-source.ts';
import { readLoggedRow, readQueryLog } from './query-log-store.ts';

const MINUTE_MS = 60_000;
const NODE = 7;
const START_MS = FIRST_DAY_MS + 10 * 3_600_000;
const END_MS = START_MS + 3 * MINUTE_MS;
const DAY = { fromMs: FIRST_DAY_MS, toMs: FIRST_DAY_MS + DAY_MS };
const MIDDLE = { fromMs: START_MS + MINUTE_MS, toMs: START_MS + 2 * MINUTE_MS };
const BLOCK_QUERIES = 400;

/**
 * Three minutes of a flood with 8 queries per second. Blocks end in the middle of seconds, and minutes in the middle of
 * blocks.
 */
const QUERIES: readonly FloodQuery[] = fc
  .sample(arbitraryFloodQuery(START_MS, END_MS - START_MS), { numRuns: 1500, seed: 11 })
  .sort((a, b) => a.timeMs - b.timeMs);
const BLOCKS = Array.from({ length: Math.ceil(QUERIES.length / BLOCK_QUERIES) }, (_, i) =>
  QUERIES.slice(i * BLOCK_QUERIES, (i + 1) * BLOCK_QUERIES),
);
const ROWS = BLOCKS.reduce((sum, queries) => sum + rowsExpected(queries), 0);

let own: TestDatabase;
let log: LogSource;
beforeAll(async () => {
  own = await startTestDatabase();
  log = logSourceOf(own.database);
  const gatherer = new BlockGatherer(() => PREFIXES);
  for (const queries of BLOCKS)
    for (const batch of await batchesOf(queries.map(floodRow), gatherer))
      await storeBlock(own.database, batch, { nodeId: NODE, durable: false });
});
afterAll(() => own.stop());

function within({ fromMs, toMs }: typeof DAY): FloodQuery[] {
  return QUERIES.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs);
}

/** Number of queries by the result of `keyOf`. */
function countBy(
  queries: readonly FloodQuery[],
  keyOf: (query: FloodQuery) => string,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const query of queries) counts[keyOf(query)] = (counts[keyOf(query)] ?? 0) + 1;
  return counts;
}

async function exported(filter: object = {}): Promise<LoggedQuery[]> {
  return (await Array.fromAsync(exportQueries(log, { from: null, to: null, ...filter }))).flat();
}

function queriesOf(rows: readonly LoggedQuery[]): number {
  return rows.reduce((sum, { repeats }) => sum + 1 + repeats, 0);
}

async function topClients(change: object): Promise<Record<string, number>> {
  const lines = await readTopClients(log, { ...DAY, limit: 100, ...change });
  return Object.fromEntries(lines.map(({ ip, count }) => [ip, count]));
}

function timelineOf(request: TimelineRequest): Promise<Bucket[]> {
  return log.read((tx) => readTimelineCounts(tx, request, log.onDamaged));
}

/** Counts of queries by minute, without minutes that have none. */
function minutesOf(queries: readonly FloodQuery[]): Bucket[] {
  const minutes = Map.groupBy(queries, ({ timeMs }) => Math.floor(timeMs / MINUTE_MS) * MINUTE_MS);
  return [...minutes].map(([startMs, found]) => {
    const count = (isIt: (status: number) => boolean): number =>
      found.filter(({ status }) => isIt(status)).length;
    return {
      startMs,
      queries: found.length,
      blocked: count((status) => status === QueryStatus.BLOCKED_LIST),
      cached: expect.any(Number) as unknown as number,
      forwarded: expect.any(Number) as unknown as number,
      rateLimited: count((status) => status === QueryStatus.RATE_LIMITED),
    };
  });
}

/** Checks that are repeated after blocks were stored, after they were merged, and after top lists count them. */
async function agree(): Promise<void> {
  await pagesAgree();
  await summariesAgree();
  await clientsAgree();
  await questionsAgree();
}

async function pagesAgree(): Promise<void> {
  const all = await readQueryLog(log, { limit: 7, offset: 0 });
  expect(all).toMatchObject({ total: ROWS, total_queries: QUERIES.length, damaged_blocks: 0 });
  const next = await readQueryLog(log, { limit: 7, offset: 0, cursor: all.next_cursor! });
  expect(next).toMatchObject({ total: ROWS, total_queries: QUERIES.length });
  const rows = await exported();
  expect([rows.length, queriesOf(rows)]).toEqual([ROWS, QUERIES.length]);
  expect([...all.data, ...next.data]).toEqual(rows.slice(0, 14));
  const first = rows.find(({ repeats }) => repeats > 0)!;
  expect(await readLoggedRow(log, first.id)).toEqual(first);
  for (const filter of [
    { status: 'RATE_LIMITED' as const },
    { not: { status: 'RATE_LIMITED' as const } },
    { client: '192.0.2.200' },
    { client: '192.0.2.0/24', type: 'AAAA' },
    { domain: 'n1' },
    { group_id: 2, status: 'RATE_LIMITED' as const },
  ]) {
    const found = await exported(filter);
    const totals = { total: found.length, total_queries: queriesOf(found) };
    expect(await readQueryLog(log, { limit: 3, offset: 0, ...filter })).toMatchObject(totals);
  }
  for (const span of [DAY, MIDDLE]) {
    const limited = within(span).filter(({ status }) => status === QueryStatus.RATE_LIMITED);
    const request = { limit: 1, offset: 0, ...span };
    expect(await readQueryLog(log, request)).toMatchObject({ total_queries: within(span).length });
    const page = await readQueryLog(log, { ...request, status: 'RATE_LIMITED' });
    expect(page.total_queries).toBe(limited.length);
  }
}

async function summariesAgree(): Promise<void> {
  for (const span of [DAY, MIDDLE]) {
    const queries = within(span);
    const rows = await exported({ from: new Date(span.fromMs), to: new Date(span.toMs) });
    const summary = await readSummary(log, span);
    expect(summary).toMatchObject({
      queries_total: queries.length,
      queries_blocked: queries.filter(({ status }) => status === QueryStatus.BLOCKED_LIST).length,
      queries_rate_limited: queries.filter(({ status }) => status === QueryStatus.RATE_LIMITED).length,
      queries_repeated: queries.length - rows.length,
      clients: new Set(queries.map(({ client }) => client)).size,
      queries_by_type: countBy(queries, ({ qtype }) => rrTypeName(qtype)),
      queries_by_status: countBy(queries, ({ status }) => QUERY_STATUS_NAMES[status]!),
      queries_by_rcode: countBy(queries, ({ rcode }) => rcodeName(rcode)),
      queries_by_protocol: countBy(queries, ({ protocol }) => PROTOCOL_NAMES[protocol]!),
    });
    // Names are counted from rows.
    expect(summary.unique_domains).toBe(new Set(rows.map(({ domain }) => domain)).size);
    const names = await Promise.all(
      (['blocked', 'allowed'] as const).map((which) =>
        readTopDomains(log, { ...span, limit: 10_000, which }),
      ),
    );
    expect(names.flat().reduce((sum, { count }) => sum + count, 0)).toBe(
      summary.queries_total - summary.queries_repeated,
    );
  }
}

async function clientsAgree(): Promise<void> {
  for (const span of [DAY, MIDDLE]) {
    const queries = within(span);
    const ofClient = countBy(queries, ({ client }) => client);
    expect(await topClients(span)).toEqual(ofClient);
    for (const client of FLOOD_CLIENTS.map(([first]) => first))
      expect(await topClients({ ...span, client })).toEqual({ [client]: ofClient[client] });
    const ofGroup = queries.filter(({ groupId }) => groupId === 2);
    expect(await topClients({ ...span, group_id: 2 })).toEqual(countBy(ofGroup, ({ client }) => client));
    const timeline = { ...span, granularity: 'minute', timezone: 'UTC' } as const;
    for (const client of FLOOD_CLIENTS.map(([first]) => first))
      expect(await timelineOf({ ...timeline, client })).toEqual(
        minutesOf(queries.filter((query) => query.client === client)),
      );
    expect(await timelineOf({ ...timeline, group_id: 2 })).toEqual(minutesOf(ofGroup));
    const request = { ...span, stepMs: MINUTE_MS, max: 4 };
    const { clients, others } = await readClientSlots(log, request);
    for (const { client, total } of clients) expect(total).toBe(ofClient[client]);
    expect(clients.reduce((sum, { total }) => sum + total, others.total)).toBe(queries.length);
  }
}

async function questionsAgree(): Promise<void> {
  for (const span of [DAY, MIDDLE]) {
    const { evaluated, notEvaluated } = await readQuestions(log, { ...span, withAddresses: false });
    const refused = [QueryStatus.RATE_LIMITED, QueryStatus.REFUSED] as readonly number[];
    expect(notEvaluated).toBe(within(span).filter(({ status }) => refused.includes(status)).length);
    expect(evaluated + notEvaluated).toBe(within(span).length);
  }
  const limits = { ...READ_LIMITS, rows: 1 };
  const few = await readQuestions(log, { ...DAY, withAddresses: false }, limits);
  expect(few.evaluated + few.notEvaluated + few.leftOut).toBe(QUERIES.length);
}

async function blockCount(): Promise<number> {
  const { rows } = await own.database.query<{ count: number }>('SELECT count(*) FROM query_blocks');
  return rows[0]!.count;
}

describe('a flood of limited queries', () => {
  test('creates few rows, and all of its counts are exact', async () => {
    expect(await blockCount()).toBe(BLOCKS.length);
    expect(ROWS).toBeLessThan(QUERIES.length);
    await agree();
    // Repeated, so that cached blocks are used.
    await pagesAgree();
    await clientsAgree();
  });

  test('has the same counts after its blocks were merged', async () => {
    const parts = { database: own.database, logger: new MemoryLogger(), nodeId: NODE };
    expect(await new MergeUpkeep(parts).turn('own-and-ended')).toBe(1);
    expect(await blockCount()).toBe(1);
    await agree();
  });

  test('has the same counts after it was added to the top lists of its day', async () => {
    const parts = { database: own.database, logger: new MemoryLogger(), nodeId: NODE };
    expect(await new NameFolding(parts).foldDay(FIRST_DAY)).toBe(true);
    await agree();
  });
});
