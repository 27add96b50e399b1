/**
 * The compatibility API's summary and distributions: the numbers of `{api}/stats` for the last 24 hours, of all nodes.
 */
import { CompatQueryTypes, CompatSummary, type Untimed } from '../../../shared/api/compat/compat-api.ts';
import type { BlockFilterStats } from '../../../shared/api/stats-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import { percent } from '../../query-log/statistics/stats-store.ts';
import { type CompatRoute, reading } from './compat-route.ts';
import { type Counts, countsOf, DECISION_KINDS, lastDay } from './day-counts.ts';
import { outcomeOf, sumReplies, sumStatuses, sumTypes } from './query-kinds.ts';

const MINUTE_MS = 60_000;

export function compatStatsRoutes(context: {
  stats: Pick<LogQuestions, 'summary' | 'timeline' | 'slotCounts'>;
  clock: Clock;
  clients: { all(): readonly unknown[] };
  filterStats: () => BlockFilterStats;
}): CompatRoute[] {
  const { stats, clock, clients, filterStats } = context;
  const readSummary = async (gone: AbortSignal): Promise<Untimed<CompatSummary>> => {
    const span = lastDay(clock);
    const summary = await stats.summary(span, gone);
    const counts = await countsOf(stats, span, [...DECISION_KINDS, 'type', 'reply'], gone);
    const lastMinute = { fromMs: span.toMs - 2 * MINUTE_MS, toMs: span.toMs - MINUTE_MS };
    const { buckets } = await stats.timeline({ ...lastMinute, granularity: 'minute', timezone: 'UTC' }, gone);
    const { blocked_domains: domains, compiled_at: compiledAt } = filterStats();
    return {
      queries: { ...queriesOf(counts, summary.unique_domains), frequency: buckets[0]!.total / 60 },
      clients: { active: summary.clients, total: Math.max(summary.clients, clients.all().length) },
      gravity: {
        domains_being_blocked: domains,
        last_update: compiledAt === null ? 0 : Math.floor(Date.parse(compiledAt) / 1000),
      },
    };
  };
  return [
    reading('/stats/summary', CompatSummary, ({ gone }) => readSummary(gone)),
    reading('/stats/query_types', CompatQueryTypes, ({ gone }) => readTypes(stats, clock, gone)),
  ];
}

function queriesOf(
  counts: Readonly<Record<'status' | 'decision' | 'type' | 'reply', Counts>>,
  uniqueDomains: number,
): Omit<CompatSummary['queries'], 'frequency'> {
  const status = sumStatuses(counts);
  const { total, blocked, forwarded, cached } = outcomeOf(status);
  return {
    total,
    blocked,
    percent_blocked: percent(blocked, total),
    unique_domains: uniqueDomains,
    forwarded,
    cached,
    types: sumTypes(counts.type),
    status,
    replies: sumReplies(counts.reply, total),
  };
}

async function readTypes(
  stats: Pick<LogQuestions, 'slotCounts'>,
  clock: Clock,
  gone: AbortSignal,
): Promise<Untimed<CompatQueryTypes>> {
  const { type } = await countsOf(stats, lastDay(clock), ['type'], gone);
  return { types: sumTypes(type) };
}
