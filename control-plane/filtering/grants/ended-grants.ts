/** Deletes expired grants from the database, because they would become active again if the clock were set back. */
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { Database } from '../../storage/db/database.ts';
import { deleteEnded } from './grant-store.ts';

/** Starts the deletion. Without a database it is postponed; the grants are already inactive in memory and on disk. */
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
