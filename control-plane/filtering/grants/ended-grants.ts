/** Deletes expired grants from the database, because a grant would become active again if the clock were set back. */
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { Database } from '../../storage/db/database.ts';
import { deleteEnded } from './grant-store.ts';

/**
 * Starts to delete these grants. Without a database, they are deleted later; they are already inactive in memory and on
 * disk.
 */
export function removeEnded(
  database: Pick<Database, 'query'>,
  logger: Logger,
  ids: ReadonlySet<number>,
): Promise<void> {
  return deleteEnded(database, [...ids]).catch((error: unknown) => {
    if (error instanceof DatabaseUnavailable) return;
    logger.warn('could not delete ended grants', { reason: reasonOf(error) });
  });
}
