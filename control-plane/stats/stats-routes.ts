/** HTTP of `{api}/stats`, `{api}/stats/rate` and `{api}/block-filter/stats`. The latter two come from memory. */
import { periodMs } from '../../shared/api/fields.ts';
import type {
  BlockFilterStats,
  QueryRate,
  RateQuery,
  StatsQuery,
  StatsSummary,
} from '../../shared/api/stats-api.ts';
import type { ApiContext } from '../api/api-context.ts';
import type { RouteRequest } from '../api/route.ts';
import { uptimeSecs } from '../system/uptime.ts';

/** GET stats */
export async function readSummary(
  context: ApiContext,
  { query }: RouteRequest<unknown, StatsQuery>,
): Promise<StatsSummary> {
  const nowMs = context.clock.nowMs();
  const summary = await context.stats.summary(new Date(nowMs - periodMs(query.period)!), new Date(nowMs));
  return { ...summary, uptime_secs: uptimeSecs(context) };
}

/** GET stats/rate */
export function readRate({ counters }: ApiContext, { query }: RouteRequest<unknown, RateQuery>): QueryRate {
  const queries = counters.recentQueries(query.unit);
  return { queries, rate: `${shortNumber(queries)} ${query.unit === 'second' ? 'q/s' : 'q/min'}` };
}

/** GET block-filter/stats */
export function readBlockFilterStats({ filters }: ApiContext): BlockFilterStats {
  return filters.stats();
}

/** A count in at most four digits: 950, 1.5k, 12k, 3.4M. */
export function shortNumber(count: number): string {
  const units = ['', 'k', 'M', 'G'];
  let value = count;
  let unit = 0;
  // 999.5 would be rounded to 1000, which is the next unit's 1.
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  const text = unit === 0 || value >= 9.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '');
  return text + units[unit]!;
}
