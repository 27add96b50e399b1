/** The compatibility API's top lists, upstreams and sums of any period, from the same figures as the native ones. */
import type { Untimed } from '../../../shared/api/compat/compat-api.ts';
import {
  CompatDatabaseSummary,
  CompatRecentBlocked,
  CompatTopClients,
  CompatTopDomains,
  CompatUpstreams,
} from '../../../shared/api/compat/compat-log-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { periodStartMs } from '../../query-log/reading/period-start.ts';
import type { QueryLogReader } from '../../query-log/reading/query-log-reader.ts';
import type { ClientNames } from '../../query-log/statistics/client-names.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import type { Span } from '../../query-log/statistics/counts-reader.ts';
import { CompatFault } from './compat-error.ts';
import { type CompatRequest, type CompatRoute, reading } from './compat-route.ts';
import { DAY_MS, lastDay } from './last-day.ts';
import { outcomeOf, sumStatuses } from './query-kinds.ts';
import { readRecentBlocked } from './recent-blocked.ts';
import { upstreamPlace } from './upstream-place.ts';

/** Most lines of a list. */
const MOST_LINES = 1000;

/** Rows of the top lists. */
export function compatTopRoutes(context: {
  stats: LogQuestions;
  queryLog: Pick<QueryLogReader, 'page'>;
  clock: Clock;
  clients: ClientNames;
}): CompatRoute[] {
  const topDomains = (request: CompatRequest, isBlocked: boolean) =>
    readTopDomains(context.stats, context.clock, request, isBlocked);
  return [
    reading('/stats/top_domains', CompatTopDomains, (request) =>
      topDomains(request, request.params.bool('blocked', false)),
    ),
    reading('/stats/top_blocked', CompatTopDomains, (request) => topDomains(request, true)),
    reading('/stats/top_clients', CompatTopClients, (request) =>
      readTopClients(context.stats, context.clock, context.clients, request),
    ),
    reading('/stats/recent_blocked', CompatRecentBlocked, async (request) => ({
      blocked: await readRecentBlocked(context.queryLog, linesOf(request, 1), request.gone),
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
  stats: LogQuestions,
  clock: Clock,
  request: CompatRequest,
  isBlocked: boolean,
): Promise<Untimed<CompatTopDomains>> {
  const span = lastDay(clock);
  const limit = linesOf(request, 10);
  const which = isBlocked ? 'blocked' : 'allowed';
  const domains = await stats.topDomains({ ...span, limit, which }, request.gone);
  return { domains: domains, ...(await totalsOf(stats, span, request.gone)) };
}

async function readTopClients(
  stats: LogQuestions,
  clock: Clock,
  clients: ClientNames,
  request: CompatRequest,
): Promise<Untimed<CompatTopClients>> {
  const span = lastDay(clock);
  const isBlocked = request.params.bool('blocked', false);
  const limit = linesOf(request, 10);
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
  const counts = await countsOf(stats, lastDay(clock), ['status', 'upstream', 'upstream_us'], gone);
  const { total, blocked, cached, forwarded } = outcomeOf(sumStatuses(ofKind(counts, 'status')));
  const timesUs = ofKind(counts, 'upstream_us');
  const servers = Object.entries(ofKind(counts, 'upstream')).map(([text, count]) => ({
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
  // Where a period that reaches back as far would start: as fine as counts of that age are.
  const startOf = (secs: number): number => periodStartMs(nowMs, Math.max(0, nowMs - secs * 1000));
  const sums = await stats.summary({ fromMs: startOf(from), toMs: startOf(until + 60) }, gone);
  return {
    sum_queries: sums.queries_total,
    sum_blocked: sums.queries_blocked,
    percent_blocked: sums.block_rate,
    total_clients: sums.clients,
  };
}

/** Queries of a span, and those of them that were blocked. */
async function totalsOf(
  stats: LogQuestions,
  span: Span,
  gone: AbortSignal,
): Promise<{ total_queries: number; blocked_queries: number }> {
  const statuses = sumStatuses(ofKind(await countsOf(stats, span, ['status'], gone), 'status'));
  const { total, blocked } = outcomeOf(statuses);
  return { total_queries: total, blocked_queries: blocked };
}

/** Counts of a whole span by `kind:value`. */
async function countsOf(
  stats: Pick<LogQuestions, 'slotCounts'>,
  span: Span,
  kinds: readonly string[],
  gone: AbortSignal,
): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { counts } of await stats.slotCounts({ ...span, stepMs: DAY_MS, kinds }, gone))
    for (const [key, count] of Object.entries(counts)) sums[key] = (sums[key] ?? 0) + count;
  return sums;
}

function ofKind(counts: Readonly<Record<string, number>>, kind: string): Record<string, number> {
  const prefix = `${kind}:`;
  return Object.fromEntries(
    Object.entries(counts)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, count]) => [key.slice(prefix.length), count]),
  );
}

function linesOf({ params }: CompatRequest, fallback: number): number {
  return params.count('count', fallback, MOST_LINES);
}
