/** Data sources for questions about the query log. */
import type { BlockTransaction } from '../search/block-transaction.ts';

/** The stored log. */
export interface LogSource {
  /**
   * Runs `work` over one state of the log, at low priority.
   * @throws {DatabaseUnavailable}
   */
  read<T>(work: (tx: BlockTransaction) => Promise<T>): Promise<T>;
  /** Reports a block that cannot be read. */
  readonly onDamaged: (block: string, reason: string) => void;
}

/** A reader of the log as routes have it: runs in the thread of `query-log/log-search/`, and gives up once `signal` is aborted. */
export type Asked<Reader extends (log: LogSource, argument: never) => unknown> = (
  argument: Parameters<Reader>[1],
  signal: AbortSignal,
) => ReturnType<Reader>;
