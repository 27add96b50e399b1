/**
 * Queries of a period by time. Made of the counts of minutes, quarters of an hour and days, never of rows: a bucket is
 * the sum of those that begin in it, so all buckets together are the period's total. Pure; `timeline-store.ts` reads.
 */
import { GRANULARITIES, type Granularity, type Timeline } from '../../shared/api/stats-api.ts';
import { zoneOffset } from '../../shared/policy/time-zone.ts';
import { invalid } from '../api/api-error.ts';
import { MINUTES_KEPT_MS } from '../query-log/reading/period-start.ts';
import { BUCKET_MS, bucketStarts } from './bucket-starts.ts';
import type { Bucket } from './counts-reader.ts';
import type { TimelineRequest } from './timeline-store.ts';

/** Most buckets of an answer: ten years of days. */
const MOST_BUCKETS = 4000;
/** Longest period that has a granularity as its default. */
const DEFAULT_UP_TO_MS: readonly [number, Granularity][] = [
  [3 * BUCKET_MS.hour, 'minute'],
  [2 * BUCKET_MS.day, '15min'],
  [14 * BUCKET_MS.day, 'hour'],
];

/** The granularity of a period, or one that suits it. @throws {ApiError} 400 where it is too fine */
export function granularityOf(periodMs: number, wanted: Granularity | undefined): Granularity {
  if (wanted === undefined) return DEFAULT_UP_TO_MS.find(([upToMs]) => periodMs <= upToMs)?.[1] ?? 'day';
  const refuse = (message: string): Error => invalid([{ path: 'granularity', message }]);
  if (wanted === 'minute' && periodMs > MINUTES_KEPT_MS)
    throw refuse('minutes are kept for two days; expected a period of at most 2d, or a coarser granularity');
  const fits = (granularity: Granularity): boolean => periodMs / BUCKET_MS[granularity] <= MOST_BUCKETS;
  if (fits(wanted)) return wanted;
  const finest = GRANULARITIES.find((granularity) => granularity !== 'minute' && fits(granularity));
  throw refuse(`more than ${MOST_BUCKETS} buckets in this period; the finest for it is ${finest}`);
}

/** The timeline over counts of `readTimelineCounts()`. */
export function timelineOf(
  { fromMs, toMs, granularity, timezone }: TimelineRequest,
  counts: readonly Bucket[],
): Timeline {
  const starts = bucketStarts(granularity, zoneOffset(timezone)!, fromMs, toMs);
  return { granularity, timezone, buckets: fill(starts, counts) };
}

/** A bucket for each start, with the counts of what begins in it; both are in order. */
function fill(starts: readonly number[], counts: readonly Bucket[]): Timeline['buckets'] {
  let at = 0;
  return starts.map((startMs, place) => {
    const endMs = starts[place + 1] ?? Infinity;
    const sum = { total: 0, blocked: 0, cached: 0, forwarded: 0, rate_limited: 0 };
    for (let next = counts[at]; next !== undefined && next.startMs < endMs; next = counts[++at]) {
      sum.total += next.queries;
      sum.blocked += next.blocked;
      sum.cached += next.cached;
      sum.forwarded += next.forwarded;
      sum.rate_limited += next.rateLimited;
    }
    return { timestamp: new Date(startMs).toISOString(), ...sum };
  });
}
