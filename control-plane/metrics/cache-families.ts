/** Metrics of the answer cache, which all workers share. */
import type { CacheMetrics } from '../../shared/api/cache-api.ts';
import { type Family, single } from './family.ts';

/** Families of the cache's counters. `maxBytes` is the size of the cache's memory. */
export function cacheFamilies(read: () => CacheMetrics, maxBytes: number): Family[] {
  const counter = (name: string, help: string, value: (metrics: CacheMetrics) => number): Family =>
    single('counter', `weir_cache_${name}_total`, help, () => value(read()));
  return [
    single('gauge', 'weir_cache_entries', 'Entries in the answer cache', () => read().entries),
    single('gauge', 'weir_cache_bytes', 'Bytes used by the entries', () => read().bytes),
    single('gauge', 'weir_cache_max_bytes', 'Bytes of the answer cache, including the index', () => maxBytes),
    counter('hits', 'Answers from fresh entries', ({ hits }) => hits),
    counter('stale_hits', 'Answers from expired entries', (metrics) => metrics.stale_hits),
    counter('misses', 'Lookups without a usable entry', ({ misses }) => misses),
    counter('insertions', 'Entries written', ({ insertions }) => insertions),
    counter('evictions', 'Live entries overwritten', ({ evictions }) => evictions),
    counter(
      'refreshes',
      'Refreshes of popular names before they expire',
      (metrics) => metrics.optimistic_refreshes,
    ),
  ];
}
