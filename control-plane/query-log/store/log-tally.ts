/** What became of the rows of the query log since the start, and why rows cannot be stored now. */
import type { Logger } from '../../../shared/log.ts';
import { LogTrouble } from './log-trouble.ts';

/** Counts rows; whoever does something with them adds them up here. */
export class LogTally {
  /** In the database. */
  written = 0;
  /** Written to the spool; they also count as `written` once they are in the database. */
  spooled = 0;
  /** Refused by the database for their content, and set aside on disk. */
  refused = 0;
  readonly trouble: LogTrouble;
  private lost = 0;

  constructor(logger: Logger) {
    this.trouble = new LogTrouble(logger);
  }

  /** Lost: beyond a bound, or refused by the disk. */
  get dropped(): number {
    return this.lost;
  }

  /** Counts lost rows, and tells. */
  drop(rowCount: number, action: string, cause: unknown): void {
    this.lost += rowCount;
    this.trouble.begin(`${action}: rows are lost`, cause, { rows: rowCount, rowsSinceStart: this.lost });
  }
}
