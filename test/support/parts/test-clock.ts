/** A clock that advances only when a test moves it. */
import type { Clock } from '../../../shared/clock.ts';

/** The wall clock and the monotonic clock; each can be moved separately. */
export class TestClock implements Clock {
  wallMs = 1_800_000_000_000;
  sinceBootMs = 1_000_000;

  nowMs(): number {
    return this.wallMs;
  }

  monotonicMs(): number {
    return this.sinceBootMs;
  }

  /** Advances both clocks. */
  advance(ms: number): void {
    this.wallMs += ms;
    this.sinceBootMs += ms;
  }
}
