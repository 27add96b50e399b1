/**
 * The days of the query log: partitions are created ahead of time and dropped when they are too old, with the
 * precautions of `day-aging.ts`.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { deleteOldRuns } from '../store/block-store.ts';
import {
  dropPartitions,
  ensurePartitions,
  listFilledPartitions,
  listPartitions,
} from '../store/partition-store.ts';
import { DayAging, lastOfFirstRun } from './day-aging.ts';

export interface LogDaysOptions {
  readonly database: Database;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
  /** `database.query_log_days`; called for each run. */
  readonly queryLogDays: () => number;
  /**
   * Adds the data of a day to the top lists, which are kept for longer; false if this is not finished, so that the day
   * must not be dropped yet. Days count from 1970-01-01 in UTC.
   */
  readonly beforeDrop?: (day: number) => Promise<boolean>;
}

/** Number of days whose partitions are created ahead of time. */
const DAYS_AHEAD = 2;
/** Days for which rows of `query_runs` are kept: they prevent storing a block twice that a node still has in its spool. */
const RUN_MEMORY_DAYS = 60;

/** Creates and drops the daily partitions. */
export class LogDays {
  private readonly options: LogDaysOptions;
  private readonly aging: DayAging;

  constructor(options: LogDaysOptions) {
    this.options = options;
    this.aging = new DayAging(options.clock);
  }

  /** Creates the partitions of the next days and drops those that are too old. */
  async keep(): Promise<void> {
    const { database, logger, queryLogDays } = this.options;
    const today = await dayInDatabase(database);
    await ensurePartitions(
      database,
      Array.from({ length: DAYS_AHEAD + 1 }, (_, i) => today + i),
    );
    const filled = await listFilledPartitions(database);
    const kept = { today, keptDays: queryLogDays(), filled };
    const { sure, doubtful } = this.aging.oldOf(await listPartitions(database), kept);
    if (doubtful !== undefined) {
      logger.warn(
        'deleting a day of the query log, by the clock alone: could not compare its age with the newest ' +
          'rows',
        {
          day: new Date(doubtful * DAY_MS).toISOString().slice(0, 10),
        },
      );
    }
    const dropped: number[] = [];
    for (const day of doubtful === undefined ? sure : [...sure, doubtful])
      if (await this.mayGo(day)) dropped.push(day);
    await dropPartitions(database, dropped);
    if (dropped.length > 0) logger.info('deleted old days of the query log', { days: dropped.length });
    const known = Math.min(lastOfFirstRun(filled), today);
    await deleteOldRuns(database, new Date((known - RUN_MEMORY_DAYS) * DAY_MS));
  }

  private async mayGo(day: number): Promise<boolean> {
    const { beforeDrop, logger } = this.options;
    try {
      return beforeDrop === undefined || (await beforeDrop(day));
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      // The day is dropped although its lists are incomplete, because days that are never dropped would fill the disk.
      logger.error(
        'a day of the query log is deleted before its names are in the name index: top lists of that day ' +
          'are incomplete',
        {
          day: new Date(day * DAY_MS).toISOString().slice(0, 10),
          reason: reasonOf(error),
        },
      );
      return true;
    }
  }
}

/** The day `agoMs` ago by the clock of the database, counted from 1970-01-01 in UTC. */
export async function dayInDatabase(database: Queryable, agoMs = 0): Promise<number> {
  const { rows } = await database.query<{ now: Date }>('SELECT now() AS now');
  return Math.floor((rows[0]!.now.getTime() - agoMs) / DAY_MS);
}
