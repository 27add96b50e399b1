/**
 * Checks whether the wall clock has advanced like a clock that never steps and runs while the machine is suspended.
 * After a step, or shortly after the start, the wall clock may be wrong, and nothing may be deleted because of its age:
 * correcting the clock would not restore deleted data.
 */
import { elapsedMs } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';

/** Milliseconds of running without a step after which the clock is trusted. */
const SETTLED_MS = 6 * 3_600_000;
/**
 * Milliseconds of difference between two checks that count as a step; a smaller one means that the clock is being
 * slewed.
 */
export const STEP_MS = 60_000;

/** Detects steps of the wall clock. Call it periodically: a step that is undone between two calls is not detected. */
export class ClockWatch {
  private readonly clock: Clock;
  private aheadMs: number;
  private steadySinceMs: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.steadySinceMs = elapsedMs(clock);
    this.aheadMs = clock.nowMs() - this.steadySinceMs;
  }

  /** Whether the clock is trusted. */
  isSettled(): boolean {
    const runMs = elapsedMs(this.clock);
    const aheadMs = this.clock.nowMs() - runMs;
    if (Math.abs(aheadMs - this.aheadMs) > STEP_MS) this.steadySinceMs = runMs;
    this.aheadMs = aheadMs;
    return runMs - this.steadySinceMs >= SETTLED_MS;
  }
}
