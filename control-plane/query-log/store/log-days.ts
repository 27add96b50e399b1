/**
 * Which days the query log has: partitions are created ahead of time and dropped when they are too old. A wrong clock
 * would drop data for good. So the database's clock counts, the same for all nodes, and is trusted at once only as far
 * as the rows confirm it; beyond that one day per hour is dropped, which leaves time to notice, and still catches up
 * after a long stop.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Database } from '../../db/database.ts';
import { DAY_MS } from './block-gatherer.ts';
import { forgetOldRuns } from './block-store.ts';
import { dropPartitions, ensurePartitions, listFilledPartitions, listPartitions } from './partition-store.ts';

/** What it takes. */
export interface LogDaysOptions {
  readonly database: Database;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
  /** `database.query_log_days`; asked each time. */
  readonly queryLogDays: () => number;
}

/** Days that have their partition before they come. */
const DAYS_AHEAD = 2;
/** Days for which a block that waits on a node's disk is recognized. */
const RUN_MEMORY_DAYS = 60;
/** Milliseconds of uptime per dropped day that only the clock considers old. */
const DOUBTFUL_MS = 3_600_000;

/** Creates and drops the daily partitions. */
export class LogDays {
  private readonly options: LogDaysOptions;
  private doubtfulFromMs: number;

  constructor(options: LogDaysOptions) {
    this.options = options;
    this.doubtfulFromMs = options.clock.monotonicMs() + DOUBTFUL_MS;
  }

  /** Today as the database has it; days count from 1970-01-01 in UTC. */
  async today(): Promise<number> {
    const { rows } = await this.options.database.query<{ now: Date }>('SELECT now() AS now');
    return Math.floor(rows[0]!.now.getTime() / DAY_MS);
  }

  /** Makes the partitions of the next days and drops those that are older than the log is kept. */
  async keep(): Promise<void> {
    const { database, logger, queryLogDays } = this.options;
    const today = await this.today();
    await ensurePartitions(
      database,
      Array.from({ length: DAYS_AHEAD + 1 }, (_, i) => today + i),
    );
    const keptDays = queryLogDays();
    const filled = await listFilledPartitions(database);
    const known = lastOfFirstRun(filled);
    const old = (await listPartitions(database)).filter((day) => day <= today - keptDays);
    // Without rows nothing is lost.
    const isSure = (day: number): boolean => !filled.includes(day) || day <= known - keptDays;
    const dropped = [...old.filter(isSure), ...this.oneDoubtful(old.filter((day) => !isSure(day)))];
    await dropPartitions(database, dropped);
    if (dropped.length > 0) logger.info('drop old days of the query log', { days: dropped.length });
    await forgetOldRuns(database, new Date((Math.min(known, today) - RUN_MEMORY_DAYS) * DAY_MS));
  }

  private oneDoubtful(days: readonly number[]): readonly number[] {
    const nowMs = this.options.clock.monotonicMs();
    const [oldest] = days;
    if (oldest === undefined || nowMs < this.doubtfulFromMs) return [];
    this.doubtfulFromMs = nowMs + DOUBTFUL_MS;
    this.options.logger.warn('drop a day of the query log: old by the clock, though not by the days since', {
      day: new Date(oldest * DAY_MS).toISOString().slice(0, 10),
    });
    return [oldest];
  }
}

/**
 * The last of the oldest days that follow each other. Rows that come after a gap were perhaps written by a clock that
 * is ahead, so they prove nothing.
 */
function lastOfFirstRun(days: readonly number[]): number {
  const end = days.findIndex((day, index) => days[index + 1] !== day + 1);
  return days[end] ?? 0;
}
