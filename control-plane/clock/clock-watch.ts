/**
 * Whether the wall clock has lately gone as the monotonic one does. Where it was set, or Weir has only just started,
 * it may be wrong, and then nothing should be deleted for being old: what is deleted does not come back with the
 * right time.
 */
import type { Clock } from '../../shared/clock.ts';

/** Milliseconds of running without a step after which the clock is believed. */
const SETTLED_MS = 6 * 3_600_000;
/** Milliseconds between two looks' differences that are a step; less is a clock that is being slewed. */
export const STEP_MS = 60_000;

/** See above. To be asked now and then: a step that is undone between two looks was none. */
export class ClockWatch {
  private readonly clock: Clock;
  private aheadMs: number;
  private steadySinceMs: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.steadySinceMs = clock.monotonicMs();
    this.aheadMs = clock.nowMs() - this.steadySinceMs;
  }

  /** Whether the clock is believed. */
  isSettled(): boolean {
    const monotonicMs = this.clock.monotonicMs();
    const aheadMs = this.clock.nowMs() - monotonicMs;
    if (Math.abs(aheadMs - this.aheadMs) > STEP_MS) this.steadySinceMs = monotonicMs;
    this.aheadMs = aheadMs;
    return monotonicMs - this.steadySinceMs >= SETTLED_MS;
  }
}
