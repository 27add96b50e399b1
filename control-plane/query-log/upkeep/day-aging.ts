/**
 * Decides which days are old enough to be deleted. With a wrong clock, data would be lost permanently. So the clock of
 * the database is used, which is the same for all nodes, and it is trusted only as far as the days that have data
 * confirm it. Days that are old only according to the clock are deleted at a rate of one per hour: that leaves time to
 * notice a wrong clock, and still catches up after a long downtime. Days count from 1970-01-01 in UTC.
 */
import type { Clock } from '../../../shared/clock.ts';

/** Days to keep, and days that have data. */
export interface KeptDays {
  readonly today: number;
  /** Number of days for which data is kept, including today. */
  readonly keptDays: number;
  /** Days that have data, oldest first. */
  readonly filled: readonly number[];
}

/** Days that may be deleted. */
export interface OldDays {
  /** Days that are old compared to the newest days that have data, whatever the clock says. */
  readonly sure: readonly number[];
  /** A day that is old only according to the clock and may be deleted in this hour. */
  readonly doubtful: number | undefined;
}

/** Milliseconds between two deletions of days that are old only according to the clock. */
const DOUBTFUL_MS = 3_600_000;

/** Decides which days are old, for one kind of data. */
export class DayAging {
  private readonly clock: Pick<Clock, 'monotonicMs'>;
  private doubtfulFromMs: number;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.clock = clock;
    this.doubtfulFromMs = clock.monotonicMs() + DOUBTFUL_MS;
  }

  /**
   * The old days among `days`, oldest first. Days without data are always included if they are old by the clock,
   * because no data is lost with them.
   */
  oldOf(days: readonly number[], { today, keptDays, filled }: KeptDays): OldDays {
    const known = lastOfFirstRun(filled);
    const old = days.filter((day) => day <= today - keptDays);
    const isSure = (day: number): boolean => !filled.includes(day) || day <= known - keptDays;
    return { sure: old.filter(isSure), doubtful: this.allowed(old.find((day) => !isSure(day))) };
  }

  private allowed(oldest: number | undefined): number | undefined {
    const nowMs = this.clock.monotonicMs();
    if (oldest === undefined || nowMs < this.doubtfulFromMs) return undefined;
    this.doubtfulFromMs = nowMs + DOUBTFUL_MS;
    return oldest;
  }
}

/**
 * The last of the oldest consecutive days. Days after a gap are ignored: their data may have been written while the
 * clock was ahead, so it does not confirm the clock.
 */
export function lastOfFirstRun(days: readonly number[]): number {
  const end = days.findIndex((day, index) => days[index + 1] !== day + 1);
  return days[end] ?? 0;
}
