/** HTTP routes of `{api}/block-filter/stats`, which are answered from memory. */
import { BlockFilterStats } from '../../../shared/api/stats-api.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';

/** The route of the compiled filter. */
export function filterStatsRoutes({ filterStats }: { filterStats: () => BlockFilterStats }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/block-filter/stats',
      access: 'viewer',
      tag: 'Lists',
      summary: 'Size and age of the compiled rules that are active',
      answer: BlockFilterStats,
      handle: () => filterStats(),
    }),
  ];
}
