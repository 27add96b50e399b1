/** HTTP of `{api}/cache/*`. */
import type {
  CacheEntryFilter,
  CacheEntryPage,
  CacheEntryQuery,
  CacheMetrics,
  CacheStats,
  CacheStatsQuery,
} from '../../shared/api/cache-api.ts';
import { periodMs } from '../../shared/api/fields.ts';
import type { ApiContext } from '../api/api-context.ts';
import type { RouteRequest } from '../api/route.ts';
import { share } from './cache-contents.ts';

/** GET cache/stats */
export async function readCacheStats(
  context: ApiContext,
  { query }: RouteRequest<unknown, CacheStatsQuery>,
): Promise<CacheStats> {
  const nowMs = context.clock.nowMs();
  const from = new Date(nowMs - periodMs(query.period)!);
  const { hits, misses } = await context.stats.cacheUse(from, new Date(nowMs));
  const { entries, optimistic_refreshes } = context.cache.metrics();
  return {
    total_entries: entries,
    total_hits: hits,
    total_misses: misses,
    hit_rate: share(hits, misses),
    total_refreshes: optimistic_refreshes,
  };
}

/** GET cache/metrics */
export function readCacheMetrics({ cache }: ApiContext): CacheMetrics {
  return cache.metrics();
}

/** GET cache/entries */
export function listCacheEntries(
  { cache, clock }: ApiContext,
  { query }: RouteRequest<unknown, CacheEntryQuery>,
): CacheEntryPage {
  return cache.page(query, clock);
}

/** DELETE cache/entries */
export async function dropCacheEntries(
  { cache, logger }: ApiContext,
  { query }: RouteRequest<unknown, CacheEntryFilter>,
): Promise<void> {
  const dropped = await cache.drop(query);
  logger.info('cache entries dropped', { ...query, dropped });
}
