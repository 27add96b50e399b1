/**
 * Figures of a period, computed from the rows of the query log: one pass for all counts by value, and one each for
 * times, names and clients. Roll-ups for long periods are not here.
 */
import type { StatsSummary } from '../../shared/api/stats-api.ts';
import {
  BLOCKED_STATUSES,
  isBlockedStatus,
  PROTOCOL_NAMES,
  QUERY_STATUS_NAMES,
  QueryStatus,
} from '../../shared/query-log.ts';
import type { Database, Queryable } from '../db/database.ts';
import { rcodeFromStored, typeFromStored } from '../query-log/reading/stored-codes.ts';

/** The summary without the uptime, which the log does not have. */
export type LoggedSummary = Omit<StatsSummary, 'uptime_secs'>;

/** One line of a list of most-asked names. */
export interface DomainCount {
  readonly domain: string;
  readonly count: number;
}

/** One line of a list of busiest clients. */
export interface ClientCount {
  readonly ip: string;
  readonly count: number;
  readonly blocked: number;
}

/** Selects the rows of a top list. */
export interface TopRequest {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
  readonly client?: string | undefined;
  readonly group_id?: number | undefined;
}

/** Rows with equal values in all counted columns. */
interface Tally {
  readonly type: number;
  readonly status: number;
  readonly rcode: number;
  readonly protocol: number;
  readonly cached: boolean;
  readonly block_source: string | null;
  /** Whether an upstream was asked. */
  readonly asked: boolean;
  readonly count: number;
  /** Sum of the response times. */
  readonly time_us: number;
}

/** Figures that cannot be summed from tallies. */
interface Spread {
  readonly clients: number;
  readonly unique_domains: number;
  readonly p50_us: number | null;
  readonly p95_us: number | null;
  readonly p99_us: number | null;
}

const PERIOD = `"timestamp" >= $1::timestamptz AND "timestamp" < $2::timestamptz`;
const BLOCKED = `status IN (${BLOCKED_STATUSES.join(', ')})`;

/** Statuses of cache misses. */
const MISSES: ReadonlySet<number> = new Set([QueryStatus.ALLOWED, QueryStatus.SERVFAIL, QueryStatus.TIMEOUT]);

/** Figures of [fromMs, toMs), Unix milliseconds. */
export async function readSummary(database: Database, fromMs: number, toMs: number): Promise<LoggedSummary> {
  const span = [new Date(fromMs), new Date(toMs)];
  return database
    .background('questions')
    .read(async (tx) => summarize(await readTallies(tx, span), await readSpread(tx, span)));
}

/** Cache hits and misses of [fromMs, toMs). */
export async function readCacheUse(
  database: Database,
  fromMs: number,
  toMs: number,
): Promise<{ readonly hits: number; readonly misses: number }> {
  const { rows } = await database.background('questions').read((tx) =>
    tx.query<{ hits: number; misses: number }>(
      `SELECT count(*) FILTER (WHERE cached) AS hits,
         count(*) FILTER (WHERE NOT cached AND status = ANY($3)) AS misses
       FROM query_log WHERE ${PERIOD}`,
      [new Date(fromMs), new Date(toMs), [...MISSES]],
    ),
  );
  return rows[0] ?? { hits: 0, misses: 0 };
}

async function readTallies(tx: Queryable, span: readonly Date[]): Promise<Tally[]> {
  const { rows } = await tx.query<Tally>(
    `SELECT type, status, rcode, protocol, cached, block_source, upstream IS NOT NULL AS asked,
       count(*) AS count, sum(response_time_us)::float8 AS time_us
     FROM query_log WHERE ${PERIOD} GROUP BY 1, 2, 3, 4, 5, 6, 7`,
    span,
  );
  return rows;
}

async function readSpread(tx: Queryable, span: readonly Date[]): Promise<Spread> {
  // Percentiles over the distinct times, which are few: sorting all rows would take three times as long.
  const { rows } = await tx.query<Spread>(
    `WITH times AS (SELECT response_time_us AS us, count(*) AS n FROM query_log WHERE ${PERIOD} GROUP BY 1),
       ranks AS (SELECT us, sum(n) OVER (ORDER BY us) AS up_to, sum(n) OVER () AS total FROM times)
     SELECT min(us) FILTER (WHERE up_to >= total * 0.5) AS p50_us,
       min(us) FILTER (WHERE up_to >= total * 0.95) AS p95_us,
       min(us) FILTER (WHERE up_to >= total * 0.99) AS p99_us,
       (SELECT count(*) FROM (SELECT FROM query_log WHERE ${PERIOD} GROUP BY client) AS c) AS clients,
       (SELECT count(*) FROM (SELECT FROM query_log WHERE ${PERIOD} GROUP BY domain) AS d) AS unique_domains
     FROM ranks`,
    span,
  );
  return rows[0]!;
}

function summarize(tallies: readonly Tally[], spread: Spread): LoggedSummary {
  const sum = (test: (tally: Tally) => boolean): { count: number; timeUs: number } =>
    tallies
      .filter(test)
      .reduce(
        ({ count, timeUs }, tally) => ({ count: count + tally.count, timeUs: timeUs + tally.time_us }),
        { count: 0, timeUs: 0 },
      );
  const all = sum(() => true);
  const blocked = sum(({ status }) => isBlockedStatus(status));
  const hits = sum(({ cached }) => cached);
  const misses = sum(({ cached, status }) => !cached && MISSES.has(status));
  return {
    queries_total: all.count,
    queries_blocked: blocked.count,
    block_rate: percent(blocked.count, all.count),
    queries_rate_limited: sum(({ status }) => status === QueryStatus.RATE_LIMITED).count,
    clients: spread.clients,
    unique_domains: spread.unique_domains,
    cache_hit_rate: percent(hits.count, hits.count + misses.count),
    avg_query_time_ms: average(all),
    avg_cache_time_ms: average(hits),
    avg_upstream_time_ms: average(sum(({ asked }) => asked)),
    p50_query_time_ms: millis(spread.p50_us ?? 0),
    p95_query_time_ms: millis(spread.p95_us ?? 0),
    p99_query_time_ms: millis(spread.p99_us ?? 0),
    queries_by_type: countBy(tallies, ({ type }) => typeFromStored(type)),
    queries_by_status: countBy(tallies, ({ status }) => QUERY_STATUS_NAMES[status] ?? String(status)),
    queries_by_rcode: countBy(tallies, ({ rcode }) => rcodeFromStored(rcode)),
    queries_by_protocol: countBy(tallies, ({ protocol }) => PROTOCOL_NAMES[protocol] ?? String(protocol)),
    source_stats: countBy(tallies, ({ status, block_source }) =>
      isBlockedStatus(status) ? block_source : null,
    ),
  };
}

/** Counts by name; what has none is left out. */
function countBy(tallies: readonly Tally[], nameOf: (tally: Tally) => string | null): Record<string, number> {
  const counts = new Map<string, number>();
  for (const tally of tallies) {
    const name = nameOf(tally);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + tally.count);
  }
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}

function average({ count, timeUs }: { count: number; timeUs: number }): number {
  return count === 0 ? 0 : millis(timeUs / count);
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
}

function millis(timeUs: number): number {
  return Math.round(timeUs) / 1000;
}

/** The most asked names that were blocked, or that were not. */
export async function readTopDomains(
  database: Queryable,
  request: TopRequest,
  which: 'blocked' | 'allowed',
): Promise<DomainCount[]> {
  const { rows } = await database.query<DomainCount>(
    `SELECT domain, count(*) AS count FROM query_log
     WHERE ${PERIOD} AND ${which === 'blocked' ? BLOCKED : `NOT (${BLOCKED})`} AND ${TOP_CONDITION}
     GROUP BY domain ORDER BY count DESC, domain LIMIT $5`,
    topValues(request),
  );
  return rows;
}

/** The busiest clients. */
export async function readTopClients(database: Queryable, request: TopRequest): Promise<ClientCount[]> {
  const { rows } = await database.query<ClientCount>(
    `SELECT host(client) AS ip, count(*) AS count, count(*) FILTER (WHERE ${BLOCKED}) AS blocked FROM query_log
     WHERE ${PERIOD} AND ${TOP_CONDITION} GROUP BY client ORDER BY count DESC, client LIMIT $5`,
    topValues(request),
  );
  return rows;
}

const TOP_CONDITION = '($3::inet IS NULL OR client <<= $3) AND ($4::integer IS NULL OR group_id = $4)';

function topValues({ fromMs, toMs, client, group_id, limit }: TopRequest): unknown[] {
  return [new Date(fromMs), new Date(toMs), client ?? null, group_id ?? null, limit];
}
