/**
 * How long the counts of statistics are kept: minutes for two days, quarters of an hour and days for
 * `database.rollup_days`. Whole days are dropped, with the caution of `day-aging.ts`: the days that have counts confirm
 * the clock. What a wrong clock costs of the minutes is still in the quarters.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Database } from '../../db/database.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import type { Grain } from '../store/counts-store.ts';
import { DayAging } from './day-aging.ts';
import { dayInDatabase } from './log-days.ts';

/** What it takes. */
export interface CountsDaysOptions {
  readonly database: Database;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
  /** `database.rollup_days`; asked each time. */
  readonly rollupDays: () => number;
}

/** Today and two more days: at midnight the last 48 hours are there. */
const MINUTE_DAYS = 3;
/** A reader's clock may be this much behind the database's. */
const MARGIN_MS = 3_600_000;
const MINUTES: readonly Grain[] = ['m'];
const ROLLUPS: readonly Grain[] = ['q', 'd'];

/** Drops old counts. */
export class CountsDays {
  private readonly options: CountsDaysOptions;
  private readonly minutes: DayAging;
  private readonly rollups: DayAging;

  constructor(options: CountsDaysOptions) {
    this.options = options;
    this.minutes = new DayAging(options.clock);
    this.rollups = new DayAging(options.clock);
  }

  /** Drops what is too old. */
  async keep(): Promise<void> {
    await this.drop(this.minutes, MINUTES, MINUTE_DAYS);
    await this.drop(this.rollups, ROLLUPS, this.options.rollupDays());
  }

  private async drop(aging: DayAging, grains: readonly Grain[], keptDays: number): Promise<void> {
    const { database, logger } = this.options;
    const today = await dayInDatabase(database, MARGIN_MS);
    const filled = await this.daysWith(grains);
    const { sure, doubtful } = aging.oldOf(filled, { today, keptDays, filled });
    for (const day of doubtful === undefined ? sure : [...sure, doubtful]) {
      await database.query(
        `DELETE FROM query_counts WHERE grain = ANY($1::"char"[]) AND start >= $2 AND start < $3`,
        [grains, new Date(day * DAY_MS), new Date((day + 1) * DAY_MS)],
      );
    }
    if (doubtful === undefined) return;
    logger.warn('drop counts of a day: old by the clock, though not by the days since', {
      day: new Date(doubtful * DAY_MS).toISOString().slice(0, 10),
    });
  }

  /** Days that have such counts, oldest first. */
  private async daysWith(grains: readonly Grain[]): Promise<number[]> {
    const { rows } = await this.options.database.query<{ day: number }>(
      `SELECT DISTINCT floor(extract(epoch FROM start) / 86400)::integer AS day FROM query_counts
       WHERE grain = ANY($1::"char"[]) ORDER BY day`,
      [grains],
    );
    return rows.map(({ day }) => day);
  }
}
