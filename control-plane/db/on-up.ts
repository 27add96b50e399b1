/** Work that is due each time the database comes up, because nothing may wait for it to come. */
import type { Logger } from '../../shared/log.ts';
import { reasonOf } from './database-errors.ts';
import type { Database } from './database.ts';

/** Does `work` now if the database is up, and each time it comes up again; returns how to stop that. */
export function onDatabaseUp(
  database: Database,
  logger: Logger,
  what: string,
  work: () => Promise<void>,
): () => void {
  const attempt = (): void => {
    work().catch((error: unknown) =>
      logger.warn(`${what}: tried again when the database is back`, { reason: reasonOf(error) }),
    );
  };
  if (database.status().state === 'up') attempt();
  return database.onStatus(({ state }) => {
    if (state === 'up') attempt();
  });
}
