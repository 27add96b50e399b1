/** Removes grants that are over from the database, where they would come back with a clock that is set back. */
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { Database } from '../../storage/db/database.ts';
import { deleteEnded } from './grant-store.ts';

/** Begins to remove them. Without a database they wait: they have ended in memory and on disk. */
export function removeEnded(
  database: Pick<Database, 'query'>,
  logger: Logger,
  ids: ReadonlySet<number>,
): Promise<void> {
  return deleteEnded(database, [...ids]).catch((error: unknown) => {
    if (error instanceof DatabaseUnavailable) return;
    logger.warn('remove ended grants failed', { reason: reasonOf(error) });
  });
}
