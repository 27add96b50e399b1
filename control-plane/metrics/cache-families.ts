/** Metrics of the answer cache, which all workers share. */
import type { CacheMetrics } from '../../shared/api/cache-api.ts';
import { type Family, single } from './family.ts';

/** Families over the cache's counters. `maxBytes`: size of its memory. */
export function cacheFamilies(read: () => CacheMetrics, maxBytes: number): Family[] {
  const counter = (name: string, help: string, value: (metrics: CacheMetrics) => number): Family =>
    single('counter', `weir_cache_${name}_total`, help, () => value(read()));
  return [
    single('gauge', 'weir_cache_entries', 'Entries in the answer cache', () => read().entries),
    single('gauge', 'weir_cache_bytes', 'Bytes that the entries take', () => read().bytes),
    single('gauge', 'weir_cache_max_bytes', 'Bytes of the answer cache, index included', () => maxBytes),
    counter('hits', 'Answers from fresh entries', ({ hits }) => hits),
    counter('stale_hits', 'Answers from expired entries', (metrics) => metrics.stale_hits),
    counter('misses', 'Lookups that found nothing to answer from', ({ misses }) => misses),
    counter('insertions', 'Entries written', ({ insertions }) => insertions),
    counter('evictions', 'Live entries overwritten', ({ evictions }) => evictions),
    counter(
      'refreshes',
      'Refreshes of popular names ahead of expiry',
      (metrics) => metrics.optimistic_refreshes,
    ),
  ];
}
