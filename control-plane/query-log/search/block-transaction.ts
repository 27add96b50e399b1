/** The transaction in which requests to the log run. */
import type { CopyQueryable } from '../../storage/db/database.ts';
import type { LogMemory } from './log-memory.ts';

/** A transaction in which blocks are read. */
export interface BlockTransaction extends CopyQueryable {
  /** Called before each block: lets other work of the thread run, and throws if the request was cancelled. */
  readonly turn?: () => Promise<void>;
  /** Cached data of blocks. */
  readonly memory?: LogMemory;
}
