/** HTTP of `{api}/block-filter/stats`. From memory: asking waits for nothing. */
import { BlockFilterStats } from '../../shared/api/stats-api.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';

/** What these rows are made of. */
export interface FilterStatsRouteParts {
  /** What is known of the compiled filter in force. */
  readonly filterStats: () => BlockFilterStats;
}

/** The row of the compiled filter. */
export function filterStatsRoutes({ filterStats }: FilterStatsRouteParts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/block-filter/stats',
      access: 'viewer',
      tag: 'Lists',
      summary: 'Size and age of the compiled filter in force',
      answer: BlockFilterStats,
      handle: () => filterStats(),
    }),
  ];
}
