/** HTTP routes of `{api}/stats/breakdown`. */
import { periodMs } from '../../../shared/api/fields.ts';
import { StatsBreakdown, StatsQuery } from '../../../shared/api/stats-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { AbortableReader } from '../reading/log-source.ts';
import { spanOf } from '../reading/period-start.ts';
import type { Breakdown, readBreakdown } from './breakdown.ts';

/** A list with its current name. */
interface NamedList {
  readonly id: number;
  readonly name: string;
}

/** The route of the breakdown. */
export function breakdownRoutes(context: {
  stats: { readonly breakdown: AbortableReader<typeof readBreakdown> };
  policyRows: () => { readonly sources: readonly NamedList[] };
  clock: Clock;
}): Route[] {
  const { stats, policyRows, clock } = context;
  return [
    route({
      method: 'GET',
      path: '/stats/breakdown',
      access: 'viewer',
      tag: 'Statistics',
      summary: 'Queries of a period by upstream, and blocked queries by list and by service',
      query: StatsQuery,
      answer: StatsBreakdown,
      handle: async ({ query: { period, node }, gone }) => {
        const span = { ...spanOf(clock.nowMs(), periodMs(period)!), node };
        return toAnswer(await stats.breakdown(span, gone), policyRows().sources);
      },
    }),
  ];
}

function toAnswer(
  { forwarded, blocked, upstreams, lists, services }: Breakdown,
  known: readonly NamedList[],
): StatsBreakdown {
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return {
    queries_forwarded: forwarded,
    queries_blocked: blocked,
    upstreams: upstreams.map(({ upstream, count, avgTimeMs }) => ({
      upstream,
      count,
      avg_time_ms: avgTimeMs,
    })),
    blocked_by_list: lists.map(([id, count]) => ({ list_id: id, name: names.get(id) ?? null, count })),
    blocked_by_service: services.map(([service, count]) => ({ service, count })),
  };
}
