/**
 * Retention of statistics: counts of minutes are kept for two days. Counts of quarters of an hour and of days, and top
 * lists, are kept for `database.rollup_days`, but at least as long as the blocks that they count. Whole days are
 * deleted, with the precautions of `day-aging.ts`, which uses the days that have counts to check the clock. If a wrong
 * clock deletes counts of minutes, those of quarters of an hour remain.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Database } from '../../storage/db/database.ts';
import { startOf } from '../top-lists/list-parts.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import type { Grain } from '../store/counts-store.ts';
import { DayAging } from './day-aging.ts';
import { dayInDatabase } from './log-days.ts';

export interface CountsDaysOptions {
  readonly database: Database;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
  /** `database.rollup_days`; called for each run. */
  readonly rollupDays: () => number;
}

/** Today and the two days before it, so that at any time of day, the last 48 hours exist. */
const MINUTE_DAYS = 3;
/** Maximum time by which the clock of a reader may be behind the clock of the database. */
const MARGIN_MS = 3_600_000;
const MINUTES: readonly Grain[] = ['m'];
const ROLLUPS: readonly Grain[] = ['q', 'd'];

/** Deletes old counts and top lists. */
export class CountsDays {
  private readonly options: CountsDaysOptions;
  private readonly minutes: DayAging;
  private readonly rollups: DayAging;
  private readonly lists: DayAging;

  constructor(options: CountsDaysOptions) {
    this.options = options;
    this.minutes = new DayAging(options.clock);
    this.rollups = new DayAging(options.clock);
    this.lists = new DayAging(options.clock);
  }

  /** Deletes all counts and top lists that are too old. */
  async keep(): Promise<void> {
    await this.drop(this.minutes, MINUTES, MINUTE_DAYS);
    await this.drop(this.rollups, ROLLUPS, this.options.rollupDays());
    await this.dropLists();
  }

  /**
   * The lists of a month are deleted with those of its last day; the lists of hours were already deleted with their
   * blocks.
   */
  private async dropLists(): Promise<void> {
    const { database, rollupDays } = this.options;
    const today = await dayInDatabase(database, MARGIN_MS);
    const { rows } = await database.query<{ day: number; is_alone: boolean }>(
      `SELECT floor(extract(epoch FROM start) / 86400)::integer AS day, bool_and(is_alone) AS is_alone
       FROM query_names WHERE grain = 'd' GROUP BY start ORDER BY start`,
    );
    const filled = rows.map(({ day }) => day);
    const alone = rows.filter((row) => row.is_alone).map(({ day }) => day);
    const { sure, doubtful } = this.lists.oldOf(alone, { today, keptDays: rollupDays(), filled });
    for (const day of doubtful === undefined ? sure : [...sure, doubtful]) {
      const end = (day + 1) * DAY_MS;
      await database.query(
        `DELETE FROM query_names
         WHERE (grain = 'd' AND start >= $1 AND start < $2) OR (grain = 'M' AND start < $3)`,
        [new Date(day * DAY_MS), new Date(end), new Date(startOf('M', end))],
      );
    }
    if (doubtful !== undefined) this.report('deleted the name index of a day of the query log', doubtful);
  }

  private async drop(aging: DayAging, grains: readonly Grain[], keptDays: number): Promise<void> {
    const { database } = this.options;
    const today = await dayInDatabase(database, MARGIN_MS);
    const filled = await this.daysWith(grains);
    const { sure, doubtful } = aging.oldOf(filled, { today, keptDays, filled });
    for (const day of doubtful === undefined ? sure : [...sure, doubtful]) {
      await database.query(
        `DELETE FROM query_counts WHERE grain = ANY($1::"char"[]) AND start >= $2 AND start < $3`,
        [grains, new Date(day * DAY_MS), new Date((day + 1) * DAY_MS)],
      );
    }
    if (doubtful !== undefined) this.report('deleted the counts of a day', doubtful);
  }

  private report(what: string, day: number): void {
    this.options.logger.warn(`${what}, by the clock alone: could not compare its age with the newest rows`, {
      day: new Date(day * DAY_MS).toISOString().slice(0, 10),
    });
  }

  /** Days that have counts of these granularities, oldest first. */
  private async daysWith(grains: readonly Grain[]): Promise<number[]> {
    const { rows } = await this.options.database.query<{ day: number }>(
      `SELECT DISTINCT floor(extract(epoch FROM start) / 86400)::integer AS day FROM query_counts
       WHERE grain = ANY($1::"char"[]) ORDER BY day`,
      [grains],
    );
    return rows.map(({ day }) => day);
  }
}
