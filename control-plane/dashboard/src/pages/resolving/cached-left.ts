/** Remaining time of a cached answer: until its TTL ends, or as a stale answer. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

type CacheEntry = AnswerOf<'GET /cache/entries'>['data'][number];

/** State of a cached answer, with its remaining seconds. */
export type CachedLeft =
  { readonly state: 'valid' | 'stale'; readonly secs: number } | { readonly state: 'expired' };

/** State of the entry at a time of the browser's clock. */
export function cachedLeft(
  { ttl_secs: ttlSecs, stale_until: staleUntil }: Pick<CacheEntry, 'ttl_secs' | 'stale_until'>,
  nowMs: number,
): CachedLeft {
  if (ttlSecs > 0) return { state: 'valid', secs: ttlSecs };
  const staleSecs = Math.floor((Date.parse(staleUntil) - nowMs) / 1_000);
  return staleSecs > 0 ? { state: 'stale', secs: staleSecs } : { state: 'expired' };
}
