/** The transaction in which questions about the log run. */
import type { CopyQueryable } from '../../storage/db/database.ts';
import type { LogMemory } from './log-memory.ts';

/** A transaction that blocks are read in. */
export interface BlockTransaction extends CopyQueryable {
  /** Called before each block: lets others have their turn, and throws once the answer is not wanted any more. */
  readonly turn?: () => Promise<void>;
  /** Known facts about blocks. */
  readonly memory?: LogMemory;
}
