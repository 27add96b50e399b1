/** The transaction in which questions about the log run. */
import type { CopyQueryable } from '../../storage/db/database.ts';
import type { LogMemory } from './log-memory.ts';

/** A transaction that blocks are read in. */
export interface BlockTransaction extends CopyQueryable {
  /** Called before each block: yields to other work, and throws once the answer is no longer wanted. */
  readonly turn?: () => Promise<void>;
  /** Known facts about blocks. */
  readonly memory?: LogMemory;
}
