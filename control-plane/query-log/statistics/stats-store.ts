/**
 * Figures of a period. Counts are stored with each block, so the length of the period hardly affects the cost. Names
 * and clients are read from the stored top lists, and from the blocks that no list counts yet.
 */
import type { ClearedPeriods, StatsSummary } from '../../../shared/api/stats-api.ts';
import { rcodeName, rrTypeName } from '../../../shared/dns/iana.ts';
import { type CountedClient, readClientText } from '../top-lists/client-text.ts';
import { latencyOfBucket } from '../block/minute-counts.ts';
import type { KeySums } from '../top-lists/key-sums.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import type { LogSource } from '../reading/log-source.ts';
import { nodesOf } from '../reading/query-log-store.ts';
import { type ClientSum, type NameSum, sumClients, sumNames, type SumRequest } from '../sums/log-sums.ts';
import { readCleared } from './cleared-periods.ts';
import { type CountSums, type NodeSpan, readCounts, type Span } from './counts-reader.ts';

/** The summary without the uptime, which is not in the log. */
export type LoggedSummary = Omit<StatsSummary, 'uptime_secs'>;

/** A row of a top list of names. */
export interface DomainCount {
  readonly domain: string;
  readonly count: number;
}

/** A row of a top list of clients. */
export interface ClientCount {
  readonly ip: string;
  /** Id of the client if it identified itself by its key; null if it was identified by its address. */
  readonly clientId: number | null;
  readonly count: number;
  readonly blocked: number;
}

/** Cache hits and misses. */
export interface CacheUse {
  readonly hits: number;
  readonly misses: number;
}

/** Queries that the rules of a list blocked. */
export interface ListHits {
  readonly all: number;
  /** Number of these queries whose rule was in no other list. */
  readonly sole: number;
}

/** Selects the rows of a top list. */
export interface TopRequest extends NodeSpan {
  readonly limit: number;
  readonly client?: string | undefined;
  readonly group_id?: number | undefined;
}

/** Selects the rows of a top list of names. */
export interface TopDomainsRequest extends TopRequest {
  readonly which: 'blocked' | 'allowed';
}

/** Selects the rows of a top list of clients. */
export interface TopClientsRequest extends TopRequest {
  /** Whether clients are selected and sorted by all their queries or by their blocked queries; default: all. */
  readonly by?: 'all' | 'blocked';
}

/** Selects names that equal a domain or are below it. */
export interface NamesBelowRequest extends NodeSpan {
  /** Domains in lower case, without a final dot. */
  readonly roots: readonly string[];
}

/**
 * Number of queries from one address, either of one client that identified itself by a key, or of all clients that did
 * not.
 */
export interface AddressCount extends CountedClient {
  readonly total: number;
  readonly blocked: number;
}

/** Selects the names that are resolved most often. */
export interface MostAskedRequest {
  readonly nowMs: number;
  readonly days: number;
  readonly limit: number;
}

/** Maximum number of addresses that are counted; the busiest ones are chosen. */
const MAX_ADDRESSES = 10_000;
const DAY_MS = 86_400_000;

/** Sums of a period, read from one snapshot of the log. */
export interface Sums {
  readonly counts: CountSums;
  readonly cleared: ClearedPeriods;
  readonly names: KeySums<NameSum>;
  readonly clients: KeySums<ClientSum>;
}

/** Sums of a span; `onDamaged` as in `SumRequest`. */
export async function readSums(
  tx: BlockTransaction,
  span: NodeSpan,
  onDamaged: SumRequest['onDamaged'],
): Promise<Sums> {
  const request = await sumRequestOf(tx, span, {}, onDamaged);
  return {
    counts: await readCounts(tx, span.fromMs, span.toMs, request.nodeId),
    cleared: await readCleared(tx, span),
    names: await sumNames(tx, request),
    clients: await sumClients(tx, request),
  };
}

/** Figures of a span. */
export async function readSummary(log: LogSource, span: NodeSpan): Promise<LoggedSummary> {
  return log.read(async (tx) => summarize(await readSums(tx, span, log.onDamaged)));
}

/** Cache hits and misses of a span. */
export async function readCacheUse(log: LogSource, { fromMs, toMs }: Span): Promise<CacheUse> {
  return cacheUse(await log.read((tx) => readCounts(tx, fromMs, toMs)));
}

/** Cache hits and misses according to summed counts. */
export function cacheUse({ counts }: CountSums): CacheUse {
  return { hits: counts.get('cache:hits') ?? 0, misses: counts.get('cache:misses') ?? 0 };
}

/** Number of queries blocked by the rules of each list, by `list_sources.id`. */
export async function readListHits(
  log: LogSource,
  { fromMs, toMs }: Span,
): Promise<ReadonlyMap<number, ListHits>> {
  const sums = await log.read((tx) => readCounts(tx, fromMs, toMs));
  const sole = byValue(sums, 'sole_list');
  return new Map(countsOf(sums, 'list').map(([id, all]) => [Number(id), { all, sole: sole[id] ?? 0 }]));
}

/** The most queried names, either of blocked queries or of all others. */
export async function readTopDomains(
  log: LogSource,
  { limit, client, group_id, which, ...span }: TopDomainsRequest,
): Promise<DomainCount[]> {
  return log.read(async (tx) => {
    const request = await sumRequestOf(tx, span, { client, group_id }, log.onDamaged);
    return topDomains(await sumNames(tx, request), which, limit);
  });
}

/** The most queried names from these sums. */
export function topDomains(sums: Sums['names'], which: 'blocked' | 'allowed', limit: number): DomainCount[] {
  const weight = which === 'blocked' ? 'blocked' : 'not blocked';
  return sums.top(limit, weight).map(([domain, { resolved, blocked, other }]) => ({
    domain,
    count: which === 'blocked' ? blocked : resolved + other,
  }));
}

/** The names of a span that equal a root or are below one, the most queried first. */
export async function readNamesBelow(
  log: LogSource,
  { roots, ...span }: NamesBelowRequest,
): Promise<string[]> {
  const isRoot = new Set(roots);
  return log.read(async (tx) => {
    const request = await sumRequestOf(tx, span, {}, log.onDamaged);
    const found: { name: string; queries: number }[] = [];
    for (const [name, { resolved, blocked, other }] of await sumNames(tx, request))
      if (isAtOrBelow(name, isRoot)) found.push({ name, queries: resolved + blocked + other });
    return found.sort((a, b) => b.queries - a.queries).map(({ name }) => name);
  });
}

function isAtOrBelow(name: string, roots: ReadonlySet<string>): boolean {
  for (let start = 0; start !== -1;) {
    if (roots.has(name.slice(start))) return true;
    const dot = name.indexOf('.', start);
    start = dot === -1 ? -1 : dot + 1;
  }
  return false;
}

/** The busiest clients. */
export async function readTopClients(
  log: LogSource,
  { limit, client, group_id, by, ...span }: TopClientsRequest,
): Promise<ClientCount[]> {
  return log.read(async (tx) => {
    const request = await sumRequestOf(tx, span, { client, group_id }, log.onDamaged);
    return topClients(await sumClients(tx, request), limit, by);
  });
}

/** Names that any node resolved in the last days, the most queried first, in lower case. */
export async function readMostAsked(
  log: LogSource,
  { nowMs, days, limit }: MostAskedRequest,
): Promise<string[]> {
  const span = { fromUs: (nowMs - days * DAY_MS) * 1000, toUs: (nowMs + 1) * 1000 };
  const sums = await log.read((tx) => sumNames(tx, { ...span, filter: {}, onDamaged: log.onDamaged }));
  return sums.top(limit, 'resolved').map(([name]) => name);
}

/** Numbers of queries by address and key; `client-directory.ts` maps addresses to clients. */
export async function readAddressCounts(log: LogSource, span: Span): Promise<AddressCount[]> {
  const request = { ...microseconds(span), filter: {}, onDamaged: log.onDamaged };
  return log.read(async (tx) =>
    (await sumClients(tx, request))
      .top(MAX_ADDRESSES, 'all')
      .map(([client, { queries, blocked }]) => ({ ...readClientText(client), total: queries, blocked })),
  );
}

/** The busiest clients from these sums. */
export function topClients(
  sums: Sums['clients'],
  limit: number,
  by: TopClientsRequest['by'] = 'all',
): ClientCount[] {
  return sums.top(limit, by).map(([client, { queries, blocked }]) => {
    const { address: ip, clientId } = readClientText(client);
    return { ip, clientId, count: queries, blocked };
  });
}

async function sumRequestOf(
  tx: BlockTransaction,
  span: NodeSpan,
  filter: SumRequest['filter'],
  onDamaged: SumRequest['onDamaged'],
): Promise<SumRequest> {
  const { nodeId } = await nodesOf(tx, { node: span.node });
  return { ...microseconds(span), nodeId, filter, onDamaged };
}

function microseconds({ fromMs, toMs }: Span): { fromUs: number; toUs: number } {
  return { fromUs: fromMs * 1000, toUs: toMs * 1000 };
}

/** The summary computed from these sums. */
export function summarize({ counts: sums, cleared, names, clients }: Sums): LoggedSummary {
  const count = (key: string): number => sums.counts.get(key) ?? 0;
  const latency = percentiles(sums);
  return {
    queries_total: sums.queries,
    queries_blocked: sums.blocked,
    block_rate: percent(sums.blocked, sums.queries),
    queries_rate_limited: sums.rateLimited,
    queries_repeated: count('repeats:RATE_LIMITED'),
    queries_not_logged: count('excluded:log'),
    queries_not_counted: count('excluded:statistics'),
    log_cleared: cleared,
    clients: clients.distinct,
    unique_domains: names.distinct,
    unique_domains_is_estimate: names.isEstimate,
    cache_hit_rate: percent(count('cache:hits'), count('cache:hits') + count('cache:misses')),
    avg_query_time_ms: average(count('us:all'), sums.queries),
    avg_cache_time_ms: average(count('us:cached'), sums.cached),
    avg_upstream_time_ms: average(count('us:forwarded'), sums.forwarded),
    p50_query_time_ms: latency(0.5),
    p95_query_time_ms: latency(0.95),
    p99_query_time_ms: latency(0.99),
    queries_by_type: byValue(sums, 'type', (value) => rrTypeName(Number(value))),
    queries_by_status: byValue(sums, 'status'),
    queries_by_rcode: byValue(sums, 'rcode', (value) => rcodeName(Number(value))),
    queries_nodata: count('reply:NODATA'),
    queries_by_protocol: byValue(sums, 'protocol'),
    source_stats: byValue(sums, 'source'),
  };
}

/** Counts of one kind by value; numeric values come first. */
function byValue(
  sums: CountSums,
  kind: string,
  nameOf: (value: string) => string = (value) => value,
): Record<string, number> {
  return Object.fromEntries(countsOf(sums, kind).map(([value, count]) => [nameOf(value), count]));
}

/** Counts of one kind with their values, the largest first. */
export function countsOf({ counts }: CountSums, kind: string): (readonly [value: string, count: number])[] {
  const prefix = `${kind}:`;
  const found: [string, number][] = [];
  for (const [key, count] of counts)
    if (key.startsWith(prefix)) found.push([key.slice(prefix.length), count]);
  return found.sort(([, a], [, b]) => b - a);
}

/**
 * Returns a function: response time in milliseconds within which this share of the queries was answered. The result is
 * the upper end of a bucket, at most 19 % too high.
 */
function percentiles(sums: CountSums): (share: number) => number {
  const buckets = Object.entries(byValue(sums, 'latency'))
    .map(([bucket, queries]): [number, number] => [Number(bucket), queries])
    .sort(([a], [b]) => a - b);
  return (share) => {
    let below = 0;
    for (const [bucket, queries] of buckets) {
      below += queries;
      if (below >= sums.queries * share) return millis(bucket === 0 ? 0 : latencyOfBucket(bucket));
    }
    return 0;
  };
}

/** Average in milliseconds; 0 if the count is 0. */
export function average(timeUs: number, count: number): number {
  return count === 0 ? 0 : millis(timeUs / count);
}

/** Percentage, rounded to two digits; 0 if the whole is 0. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
}

function millis(timeUs: number): number {
  return Math.round(timeUs) / 1000;
}
