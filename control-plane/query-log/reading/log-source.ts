/** Data sources for requests to the query log. */
import type { BlockTransaction } from '../search/block-transaction.ts';

/** The stored log. */
export interface LogSource {
  /**
   * Runs `work` in a transaction that sees one consistent state of the log, at low priority. @throws
   * {DatabaseUnavailable}
   */
  read<T>(work: (tx: BlockTransaction) => Promise<T>): Promise<T>;
  /** Reports a block that cannot be read. */
  readonly onDamaged: (block: string, reason: string) => void;
}

/**
 * A reader of the log in the form that routes call. The reader itself runs in the thread of `query-log/log-search/`,
 * and is cancelled when `signal` is aborted.
 */
export type AbortableReader<Reader extends (log: LogSource, argument: never) => unknown> = (
  argument: Parameters<Reader>[1],
  signal: AbortSignal,
) => ReturnType<Reader>;
