/**
 * Starts of the buckets of a timeline: buckets of minutes and quarters of an hour start at the same times in all
 * current time zones; buckets of hours and days follow the clock of a time zone, so that a day may have 23 or 25 hours,
 * and an hour 30 minutes. Pure.
 */
import type { Granularity } from '../../../shared/api/stats-api.ts';
import type { ZoneOffset } from '../../../shared/policy/schedule.ts';

/** Usual length of a bucket in milliseconds. */
export const BUCKET_MS: Readonly<Record<Granularity, number>> = {
  minute: 60_000,
  '15min': 900_000,
  hour: 3_600_000,
  day: 86_400_000,
};
const MINUTE_MS = 60_000;

/** Starts of the buckets that contain [fromMs, toMs), in Unix milliseconds; the first may be before `fromMs`. */
export function bucketStarts(
  granularity: Granularity,
  offsetAt: ZoneOffset,
  fromMs: number,
  toMs: number,
): number[] {
  const stepMs = BUCKET_MS[granularity];
  const isByZone = granularity === 'hour' || granularity === 'day';
  const nextOf = (ms: number): number => (isByZone ? nextMark(ms, stepMs, offsetAt) : ms + stepMs);
  // Starts two steps earlier, because a bucket may be up to two steps long.
  let startMs = isByZone ? fromMs - 2 * stepMs : Math.floor(fromMs / stepMs) * stepMs;
  for (let nextMs = nextOf(startMs); nextMs <= fromMs; nextMs = nextOf(startMs)) startMs = nextMs;
  const starts: number[] = [];
  for (; startMs < toMs; startMs = nextOf(startMs)) starts.push(startMs);
  return starts;
}

/**
 * The first time after `ms` at which the zone's clock shows a multiple of `stepMs`, or has just skipped such a
 * multiple.
 */
function nextMark(ms: number, stepMs: number, offsetAt: ZoneOffset): number {
  const offsetMs = offsetAt(ms) * MINUTE_MS;
  const mark = (Math.floor((ms + offsetMs) / stepMs) + 1) * stepMs;
  const guess = mark - offsetMs;
  const laterMs = offsetAt(guess) * MINUTE_MS;
  // If the clock is set back within an hour, some minutes occur twice; their second occurrence is a separate bucket.
  if (laterMs === offsetMs || stepMs < BUCKET_MS.day) return guess;
  const corrected = mark - laterMs;
  return offsetAt(corrected) * MINUTE_MS === laterMs ? corrected : guess;
}
