/**
 * Compares the wall clock with a clock that is never set and also runs while the machine is suspended. After the wall
 * clock was set, or shortly after the start, it may be wrong. Data must then not be deleted because of its age, because
 * it could not be restored when the clock is corrected.
 */
import { elapsedMs } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';

/** Milliseconds after which the clock is trusted if it was not set in this time. */
const SETTLED_MS = 6 * 3_600_000;
/**
 * A difference of more than this between two checks, in milliseconds, means that the clock was set; a smaller
 * difference means that it is being adjusted gradually.
 */
export const STEP_MS = 60_000;

/**
 * Detects that the wall clock was set. Call it periodically: a change that is undone between two calls is not detected.
 */
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
