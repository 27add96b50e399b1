/**
 * Which days are old enough to be dropped. A wrong clock would drop data permanently. So the clock of the database is
 * used, which is the same for all nodes, and it is trusted only as far as the days that have data confirm it. Beyond
 * that, one day is dropped per hour, which leaves time to notice a wrong clock, and still catches up after a long
 * downtime. Days count from 1970-01-01 in UTC.
 */
import type { Clock } from '../../../shared/clock.ts';

/** Days to keep, and days that have data. */
export interface KeptDays {
  readonly today: number;
  /** Number of days, including today, for which data is kept. */
  readonly keptDays: number;
  /** Days that have data, oldest first. */
  readonly filled: readonly number[];
}

/** The old days among some days. */
export interface OldDays {
  /** Old according to the days that have data. */
  readonly sure: readonly number[];
  /** Old according to the clock alone: the day that may be dropped in this hour. */
  readonly doubtful: number | undefined;
}

/** Milliseconds of uptime for each dropped day that is old only according to the clock. */
const DOUBTFUL_MS = 3_600_000;

/** Decides which days are old, for one kind of data. */
export class DayAging {
  private readonly clock: Pick<Clock, 'monotonicMs'>;
  private doubtfulFromMs: number;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.clock = clock;
    this.doubtfulFromMs = clock.monotonicMs() + DOUBTFUL_MS;
  }

  /** The old days among `days`, oldest first. Nothing is lost with days that have no data. */
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
 * The last of the oldest consecutive days. Data after a gap may have been written with a fast clock, so it proves
 * nothing.
 */
export function lastOfFirstRun(days: readonly number[]): number {
  const end = days.findIndex((day, index) => days[index + 1] !== day + 1);
  return days[end] ?? 0;
}
