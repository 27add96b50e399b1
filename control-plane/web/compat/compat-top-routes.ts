/** The compatibility API's top lists, upstreams and sums of any period, from the same counts as in the native API. */
import type { Untimed } from '../../../shared/api/compat/compat-api.ts';
import {
  CompatDatabaseSummary,
  CompatRecentBlocked,
  CompatTopClients,
  CompatTopDomains,
  CompatUpstreams,
} from '../../../shared/api/compat/compat-log-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { MINUTES_KEPT_MS, periodStartMs } from '../../query-log/reading/period-start.ts';
import type { QueryLogReader } from '../../query-log/reading/query-log-reader.ts';
import type { ClientNames } from '../../query-log/statistics/client-names.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import type { Span } from '../../query-log/statistics/counts-reader.ts';
import { percent } from '../../query-log/statistics/stats-store.ts';
import { CompatFault } from './compat-error.ts';
import { type CompatRequest, type CompatRoute, reading } from './compat-route.ts';
import { countsOf, DECISION_KINDS, lastDay } from './day-counts.ts';
import { outcomeOf, sumStatuses } from './query-kinds.ts';
import { MAX_LINES, readRecentBlocked, readTopNames } from './top-names.ts';
import { upstreamPlace } from './upstream-place.ts';

/** The routes of the top lists. */
export function compatTopRoutes(context: {
  stats: LogQuestions;
  queryLog: Pick<QueryLogReader, 'page'>;
  clock: Clock;
  clients: ClientNames;
}): CompatRoute[] {
  const topDomains = (request: CompatRequest, isBlocked: boolean) =>
    readTopDomains(context, request, isBlocked);
  return [
    reading('/stats/top_domains', CompatTopDomains, (request) =>
      topDomains(request, request.params.bool('blocked', false)),
    ),
    reading('/stats/top_blocked', CompatTopDomains, (request) => topDomains(request, true)),
    reading('/stats/top_clients', CompatTopClients, (request) =>
      readTopClients(context.stats, context.clock, context.clients, request),
    ),
    reading('/stats/recent_blocked', CompatRecentBlocked, async (request) => ({
      blocked: await readRecentBlocked(
        context.queryLog,
        request.params.count('count', 1, MAX_LINES),
        request.gone,
      ),
    })),
    reading('/stats/upstreams', CompatUpstreams, (request) =>
      readUpstreams(context.stats, context.clock, request),
    ),
    reading('/stats/database/summary', CompatDatabaseSummary, (request) =>
      readPeriod(context.stats, context.clock, request),
    ),
  ];
}

async function readTopDomains(
  context: { stats: LogQuestions; queryLog: Pick<QueryLogReader, 'page'>; clock: Clock },
  request: CompatRequest,
  isBlocked: boolean,
): Promise<Untimed<CompatTopDomains>> {
  const span = lastDay(context.clock);
  const wanted = { isBlocked, limit: linesOf(request) };
  const domains = await readTopNames(context, span, wanted, request.gone);
  return { domains, ...(await totalsOf(context.stats, span, request.gone)) };
}

async function readTopClients(
  stats: LogQuestions,
  clock: Clock,
  clients: ClientNames,
  request: CompatRequest,
): Promise<Untimed<CompatTopClients>> {
  const span = lastDay(clock);
  const isBlocked = request.params.bool('blocked', false);
  const limit = linesOf(request);
  const top = { ...span, limit, by: isBlocked ? 'blocked' : 'all' } as const;
  const found = await stats.topClients(top, request.gone);
  const lines = found.map(({ ip, clientId, count, blocked }) => ({
    name: clients.nameAt(ip, clientId) ?? '',
    ip,
    count: isBlocked ? blocked : count,
  }));
  return { clients: lines, ...(await totalsOf(stats, span, request.gone)) };
}

async function readUpstreams(
  stats: LogQuestions,
  clock: Clock,
  { gone }: CompatRequest,
): Promise<Untimed<CompatUpstreams>> {
  const kinds = [...DECISION_KINDS, 'upstream', 'upstream_us'] as const;
  const counts = await countsOf(stats, lastDay(clock), kinds, gone);
  const { total, blocked, cached, forwarded } = outcomeOf(sumStatuses(counts));
  const timesUs = counts.upstream_us;
  const servers = Object.entries(counts.upstream).map(([text, count]) => ({
    ...upstreamPlace(text),
    count,
    statistics: { response: (timesUs[text] ?? 0) / count / 1e6, variance: 0 },
  }));
  return {
    upstreams: [
      ownAnswers('blocklist', blocked),
      ownAnswers('cache', cached),
      ...servers.sort((a, b) => b.count - a.count),
    ],
    total_queries: total,
    forwarded_queries: forwarded,
  };
}

function ownAnswers(name: string, count: number): CompatUpstreams['upstreams'][number] {
  return { ip: name, name, port: -1, count, statistics: { response: 0, variance: 0 } };
}

async function readPeriod(
  stats: LogQuestions,
  clock: Clock,
  { params, gone }: CompatRequest,
): Promise<Untimed<CompatDatabaseSummary>> {
  const [from, until] = [params.time('from'), params.time('until')];
  if (from === undefined || until === undefined) {
    const message = 'You need to specify both "from" and "until" in the request.';
    throw new CompatFault(400, 'bad_request', message);
  }
  const nowMs = clock.nowMs();
  // The start of a period of this length, rounded to the precision of counts of that age.
  const startOf = (secs: number): number => periodStartMs(nowMs, nowMs - secs * 1000);
  const span = { fromMs: startOf(from), toMs: startOf(until + 60) };
  const sums = await stats.summary(span, gone);
  const { BLOCKED_PTR: privatePtr = 0 } = sums.queries_by_status;
  // Counts by decision are kept as long as counts per minute.
  const isRecent = span.fromMs > nowMs - MINUTES_KEPT_MS;
  const blocked = isRecent
    ? (await totalsOf(stats, span, gone)).blocked_queries
    : sums.queries_blocked - privatePtr;
  return {
    sum_queries: sums.queries_total,
    sum_blocked: blocked,
    percent_blocked: percent(blocked, sums.queries_total),
    total_clients: sums.clients,
  };
}

/** Number of queries of a span, and number of blocked queries among them. */
async function totalsOf(
  stats: LogQuestions,
  span: Span,
  gone: AbortSignal,
): Promise<{ total_queries: number; blocked_queries: number }> {
  const { total, blocked } = outcomeOf(sumStatuses(await countsOf(stats, span, DECISION_KINDS, gone)));
  return { total_queries: total, blocked_queries: blocked };
}

/** Requested number of rows, at least one. */
function linesOf({ params }: CompatRequest): number {
  return Math.max(1, Math.min(params.int('count') ?? 10, MAX_LINES));
}
