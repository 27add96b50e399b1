/** What questions about the query log are answered from. */
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
