/** Where questions about the query log are answered from: the database, once what was logged until now is in it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../shared/log.ts';
import type { Database, Queryable } from '../../db/database.ts';

/** What it is made of. */
export interface LogSourceOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** Sends what has been gathered; resolves when it is stored. */
  readonly flush: () => Promise<void>;
}

/** Milliseconds that a question waits for the newest rows. */
const MOST_WAIT_MS = 1000;
/** Milliseconds between two reports of one damaged block. */
const REPORT_EVERY_MS = 3_600_000;

/** The stored log. */
export class LogSource {
  private readonly options: LogSourceOptions;
  private readonly reportedMs = new Map<string, number>();

  constructor(options: LogSourceOptions) {
    this.options = options;
  }

  /**
   * Runs `work` at low priority over all that was logged until now.
   * @throws {DatabaseUnavailable}
   */
  async read<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    const { database, flush } = this.options;
    if (database.status().state === 'up') {
      const late = new AbortController();
      await Promise.race([
        flush(),
        sleep(MOST_WAIT_MS, undefined, { signal: late.signal }).catch(() => undefined),
      ]);
      late.abort();
    }
    return this.readStored(work);
  }

  /** Runs `work` at low priority over what is stored, for a question that goes on. @throws {DatabaseUnavailable} */
  async readStored<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return this.options.database.background('questions').read(work);
  }

  /** Reports a block that cannot be read. */
  readonly onDamaged = (block: string, reason: string): void => {
    const nowMs = performance.now();
    if (nowMs - (this.reportedMs.get(block) ?? -Infinity) < REPORT_EVERY_MS) return;
    this.reportedMs.set(block, nowMs);
    this.options.logger.error('read query log: a block is damaged and left out', { block, reason });
  };
}
