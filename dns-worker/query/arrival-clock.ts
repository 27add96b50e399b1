/**
 * Arrival time of a batch on both clocks. The wall clock is read only twice a second and extrapolated with the
 * monotonic clock, because each read allocates a number and a busy thread must not allocate.
 */
import { systemClock } from '../../shared/clock.ts';
import type { Query } from './query.ts';

/**
 * Milliseconds for which a measured offset between the clocks is used, and therefore the maximum delay until a step of
 * the wall clock takes effect.
 */
const OFFSET_LIFE_MS = 500;

/** Stamps queries with the current time. Each thread has one. */
export class ArrivalClock {
  private offsetMs = 0;
  private offsetUntilMs = -Infinity;

  /** Writes the arrival time into `query`, for all queries of a batch. */
  stamp(query: Query): void {
    const nowMs = systemClock.monotonicMs();
    if (nowMs >= this.offsetUntilMs) {
      this.offsetUntilMs = nowMs + OFFSET_LIFE_MS;
      this.offsetMs = systemClock.nowMs() - nowMs;
    }
    stampArrival(query, nowMs + this.offsetMs, nowMs);
  }
}

/** Writes an arrival time into `query`: milliseconds of the wall clock and of the monotonic clock. */
export function stampArrival(query: Query, wallMs: number, monotonicMs: number): void {
  query.arrivedMs = wallMs;
  query.arrivedSecs = Math.floor(wallMs / 1000);
  query.arrivedMonotonicMs = monotonicMs;
  query.arrivedMonotonicSecs = Math.floor(monotonicMs / 1000);
}
