/** Time that stands still unless a test moves it. */
import type { Clock } from '../../../shared/clock.ts';

/** Both clocks; each may be moved by itself. */
export class TestClock implements Clock {
  wallMs = 1_800_000_000_000;
  sinceBootMs = 1_000_000;

  nowMs(): number {
    return this.wallMs;
  }

  monotonicMs(): number {
    return this.sinceBootMs;
  }

  /** Time goes by, on both clocks. */
  advance(ms: number): void {
    this.wallMs += ms;
    this.sinceBootMs += ms;
  }
}
