/** Every row of the compatibility API. It has no other: nothing here changes more than the caller's own session. */
import type { PartsOf } from '../api/feature-parts.ts';
import { compatAuthRoutes } from '../compat/compat-auth-routes.ts';
import { compatHistoryRoutes } from '../compat/compat-history-routes.ts';
import { compatNodeRoutes } from '../compat/compat-node-routes.ts';
import { compatPaddRoutes } from '../compat/compat-padd-routes.ts';
import { compatQueriesRoutes } from '../compat/compat-queries-routes.ts';
import type { CompatRoute } from '../compat/compat-route.ts';
import { compatStatsRoutes } from '../compat/compat-stats-routes.ts';
import { compatTopRoutes } from '../compat/compat-top-routes.ts';

const FEATURES = [
  compatAuthRoutes,
  compatStatsRoutes,
  compatHistoryRoutes,
  compatTopRoutes,
  compatQueriesRoutes,
  compatNodeRoutes,
  compatPaddRoutes,
] as const;

/** What all rows together are made of. */
export type CompatParts = PartsOf<(typeof FEATURES)[number], CompatRoute>;

/** All rows, over the parts of a node. */
export function compatTable(parts: CompatParts): CompatRoute[] {
  return FEATURES.flatMap((rows) => rows(parts));
}
