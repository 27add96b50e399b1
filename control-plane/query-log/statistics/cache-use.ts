/** Use of the cache in a period, in the form of the API. */
import type { CacheStats } from '../../../shared/api/cache-api.ts';
import { type CacheUse, percent } from './stats-store.ts';

/** Source of the cache's counters. */
export interface CacheFigures {
  metrics(): { readonly entries: number; readonly optimistic_refreshes: number };
}

/** Combines the counts of a period from the log with the current size of the cache. */
export function toCacheStats({ hits, misses }: CacheUse, cache: CacheFigures): CacheStats {
  const { entries, optimistic_refreshes } = cache.metrics();
  return {
    total_entries: entries,
    total_hits: hits,
    total_misses: misses,
    hit_rate: percent(hits, hits + misses),
    total_refreshes: optimistic_refreshes,
  };
}
