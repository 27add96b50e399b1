/** Computes shares of one CPU core from CPU times of two measurements. */
import type { Clock } from '../../../shared/clock.ts';

/**
 * Minimum milliseconds between two measurements: requests in quick succession get the same result, because several
 * users may request it at the same time.
 */
const MIN_SPAN_MS = 1000;

/** CPU seconds by thread since the start of each thread. */
export type CpuTimes = ReadonlyMap<string, number>;

/** Measures CPU shares; keeps the last measurement. */
export class CpuShares {
  private readonly clock: Clock;
  private readonly read: () => CpuTimes;
  private times: CpuTimes = new Map();
  private atMs: number;
  private shares: ReadonlyMap<string, number> | undefined;

  /** `startedAtMs`: monotonic time at which the CPU times were zero. */
  constructor(clock: Clock, startedAtMs: number, read: () => CpuTimes) {
    this.clock = clock;
    this.atMs = startedAtMs;
    this.read = read;
  }

  /**
   * Percent of one core that each thread has used since the last measurement, or, at the first call, since the start.
   */
  percents(): ReadonlyMap<string, number> {
    const nowMs = this.clock.monotonicMs();
    const spanMs = nowMs - this.atMs;
    if (this.shares !== undefined && spanMs < MIN_SPAN_MS) return this.shares;
    const times = this.read();
    const shareOf = (name: string, secs: number): number => {
      // The time of a thread that was replaced starts at zero again.
      const usedSecs = Math.max(0, secs - (this.times.get(name) ?? 0));
      return Math.round((usedSecs * 1e7) / Math.max(1, spanMs)) / 100;
    };
    this.shares = new Map([...times].map(([name, secs]) => [name, shareOf(name, secs)]));
    this.times = times;
    this.atMs = nowMs;
    return this.shares;
  }
}
