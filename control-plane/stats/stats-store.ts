/**
 * Figures over a period, straight from the rows of the query log: one pass for the counts, one for the
 * names and clients. Long histories need the rollups, which are not here.
 */
import type { StatsSummary } from '../../shared/api/stats.ts';
import { isBlockedStatus, PROTOCOL_NAMES, QUERY_STATUS_NAMES, QueryStatus } from '../../shared/query-log.ts';
import type { Database, Queryable } from '../db/database.ts';
import { rcodeFromStored, typeFromStored } from '../query-log/stored-codes.ts';

/** All of the summary that the log can tell; the process knows its own uptime. */
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

/** Which rows a top list is about. */
export interface TopRequest {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
  readonly client?: string | undefined;
  readonly group_id?: number | undefined;
}

interface Totals {
  readonly clients: number;
  readonly unique_domains: number;
  readonly avg_us: number | null;
  readonly avg_cache_us: number | null;
  readonly avg_upstream_us: number | null;
  readonly percentiles: number[] | null;
}

/** Counts of one combination of codes. */
interface CodeCount {
  readonly type: number;
  readonly status: number;
  readonly rcode: number;
  readonly protocol: number;
  readonly cached: boolean;
  readonly count: number;
}

const PERIOD = `"timestamp" >= $1::timestamptz AND "timestamp" < $2::timestamptz`;
const BLOCKED = `status BETWEEN ${QueryStatus.BLOCKED_LIST} AND ${QueryStatus.BLOCKED_REBIND}`;

/** Figures of [fromMs, toMs), Unix milliseconds. */
export async function readSummary(database: Database, fromMs: number, toMs: number): Promise<LoggedSummary> {
  const span = [new Date(fromMs), new Date(toMs)];
  return database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const codes = await readCodeCounts(tx, span);
    const totals = await readTotals(tx, span);
    const sources = await readSources(tx, span);
    return summarize(codes, totals, sources);
  });
}

async function readCodeCounts(tx: Queryable, span: readonly Date[]): Promise<CodeCount[]> {
  const { rows } = await tx.query<CodeCount>(
    `SELECT type, status, rcode, protocol, cached, count(*) AS count FROM query_log
     WHERE ${PERIOD} GROUP BY type, status, rcode, protocol, cached`,
    span,
  );
  return rows;
}

async function readTotals(tx: Queryable, span: readonly Date[]): Promise<Totals> {
  const { rows } = await tx.query<Totals>(
    `WITH span AS NOT MATERIALIZED (SELECT * FROM query_log WHERE ${PERIOD})
     SELECT (SELECT count(*) FROM (SELECT FROM span GROUP BY client) c) AS clients,
       (SELECT count(*) FROM (SELECT FROM span GROUP BY domain) d) AS unique_domains,
       avg(response_time_us)::float8 AS avg_us,
       (avg(response_time_us) FILTER (WHERE cached))::float8 AS avg_cache_us,
       (avg(response_time_us) FILTER (WHERE upstream IS NOT NULL))::float8 AS avg_upstream_us,
       percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY response_time_us) AS percentiles
     FROM span`,
    span,
  );
  return rows[0]!;
}

async function readSources(tx: Queryable, span: readonly Date[]): Promise<Record<string, number>> {
  const { rows } = await tx.query<{ source: string; count: number }>(
    `SELECT block_source AS source, count(*) AS count FROM query_log
     WHERE ${PERIOD} AND block_source IS NOT NULL AND ${BLOCKED} GROUP BY block_source ORDER BY 2 DESC`,
    span,
  );
  return Object.fromEntries(rows.map(({ source, count }) => [source, count]));
}

function summarize(
  codes: readonly CodeCount[],
  totals: Totals,
  sources: Record<string, number>,
): LoggedSummary {
  const count = (test: (code: CodeCount) => boolean): number =>
    codes.reduce((sum, code) => (test(code) ? sum + code.count : sum), 0);
  const total = count(() => true);
  const blocked = count(({ status }) => isBlockedStatus(status));
  const hits = count(({ cached }) => cached);
  // Of the queries that the cache could have answered: blocked and local ones never ask it.
  const misses = count(
    ({ cached, status }) =>
      !cached &&
      (status === QueryStatus.ALLOWED || status === QueryStatus.SERVFAIL || status === QueryStatus.TIMEOUT),
  );
  const [p50, p95, p99] = totals.percentiles ?? [];
  return {
    queries_total: total,
    queries_blocked: blocked,
    block_rate: percent(blocked, total),
    queries_rate_limited: count(({ status }) => status === QueryStatus.RATE_LIMITED),
    clients: totals.clients,
    unique_domains: totals.unique_domains,
    cache_hit_rate: percent(hits, hits + misses),
    avg_query_time_ms: millis(totals.avg_us),
    avg_cache_time_ms: millis(totals.avg_cache_us),
    avg_upstream_time_ms: millis(totals.avg_upstream_us),
    p50_query_time_ms: millis(p50),
    p95_query_time_ms: millis(p95),
    p99_query_time_ms: millis(p99),
    queries_by_type: sumBy(codes, ({ type }) => typeFromStored(type)),
    queries_by_status: sumBy(codes, ({ status }) => QUERY_STATUS_NAMES[status] ?? String(status)),
    queries_by_rcode: sumBy(codes, ({ rcode }) => rcodeFromStored(rcode)),
    queries_by_protocol: sumBy(codes, ({ protocol }) => PROTOCOL_NAMES[protocol] ?? String(protocol)),
    source_stats: sources,
  };
}

function sumBy(codes: readonly CodeCount[], key: (code: CodeCount) => string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const code of codes) sums[key(code)] = (sums[key(code)] ?? 0) + code.count;
  return sums;
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
}

function millis(timeUs: number | null | undefined): number {
  return Math.round(timeUs ?? 0) / 1000;
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
