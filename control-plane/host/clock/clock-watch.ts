/**
 * Checks whether the wall clock has advanced like the monotonic one. After a step, or shortly after the start, the wall
 * clock may be wrong, and nothing may be deleted for its age: deleted data does not return with the right time.
 */
import type { Clock } from '../../../shared/clock.ts';

/** Milliseconds of running without a step after which the clock is trusted. */
const SETTLED_MS = 6 * 3_600_000;
/** Milliseconds of difference between two checks that count as a step; less is a clock that is being slewed. */
export const STEP_MS = 60_000;

/** Detects steps of the wall clock. Call it periodically: a step that is undone between two calls stays undetected. */
export class ClockWatch {
  private readonly clock: Clock;
  private aheadMs: number;
  private steadySinceMs: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.steadySinceMs = clock.monotonicMs();
    this.aheadMs = clock.nowMs() - this.steadySinceMs;
  }

  /** Whether the clock is trusted. */
  isSettled(): boolean {
    const monotonicMs = this.clock.monotonicMs();
    const aheadMs = this.clock.nowMs() - monotonicMs;
    if (Math.abs(aheadMs - this.aheadMs) > STEP_MS) this.steadySinceMs = monotonicMs;
    this.aheadMs = aheadMs;
    return monotonicMs - this.steadySinceMs >= SETTLED_MS;
  }
}
