/** The current rate of queries in the form of the API. */
import type { QueryRate } from '../../../shared/api/stats-api.ts';

/** Query counters of this node. */
export interface RateCounters {
  /** Number of queries in the last complete second, or in the last sixty seconds. */
  recentQueries(unit: 'second' | 'minute'): number;
}

/** The rate as a number and as a text. */
export function toQueryRate(counters: RateCounters, unit: 'second' | 'minute'): QueryRate {
  const queries = counters.recentQueries(unit);
  return { queries, rate: `${shortNumber(queries)} ${unit === 'second' ? 'q/s' : 'q/min'}` };
}

/** A count in at most four characters: 950, 1.5k, 12k, 3.4M. */
export function shortNumber(count: number): string {
  const units = ['', 'k', 'M', 'G'];
  let value = count;
  let unit = 0;
  // From 999.5 on, a value would be rounded to 1000, which is 1 in the next unit.
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  const text = unit === 0 || value >= 9.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '');
  return text + units[unit]!;
}
