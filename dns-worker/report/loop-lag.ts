/** Measures the lag of an event loop with an existing timer, so that measuring costs nothing. */
import type { Clock } from '../../shared/clock.ts';
import { Counter } from '../../shared/memory/counters.ts';

/** Lag of one loop, added to the thread's counters. */
export class LoopLag {
  private readonly counters: Float64Array;
  private readonly clock: Clock;
  private readonly intervalMs: number;
  private lastMs: number;

  /** `intervalMs`: time between two calls of `beat` in an idle loop; the first call is due after one interval. */
  constructor(counters: SharedArrayBuffer, clock: Clock, intervalMs: number) {
    this.counters = new Float64Array(counters);
    this.clock = clock;
    this.intervalMs = intervalMs;
    this.lastMs = clock.monotonicMs();
  }

  /** Called by the timer. */
  beat(): void {
    const { counters } = this;
    const nowMs = this.clock.monotonicMs();
    const lateMs = Math.max(0, nowMs - this.lastMs - this.intervalMs);
    this.lastMs = nowMs;
    counters[Counter.LOOP_LAG_MS] = counters[Counter.LOOP_LAG_MS]! + lateMs;
    counters[Counter.LOOP_BEATS] = counters[Counter.LOOP_BEATS]! + 1;
  }
}
