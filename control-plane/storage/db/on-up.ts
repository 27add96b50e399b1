/** Runs work each time the database comes up, because nothing may wait for it. */
import type { Logger } from '../../../shared/log.ts';
import { Retrying } from '../concurrency/retrying.ts';
import type { Database } from './database.ts';

/**
 * Runs `work` now if the database is up, and each time it comes up again, until it succeeds; returns a function that
 * stops that.
 */
export function onDatabaseUp(
  database: Database,
  logger: Logger,
  what: string,
  work: () => Promise<void>,
): () => Promise<void> {
  const isUp = (): boolean => database.status().state === 'up';
  // While the database is down, trying is pointless; the next attempt is when it is back.
  const attempt = async (): Promise<void> => {
    if (isUp()) await work();
  };
  const retrying = new Retrying({ work: attempt, logger, what });
  const stopListening = database.onStatus(() => void retrying.now());
  void retrying.now();
  return () => {
    stopListening();
    return retrying.close();
  };
}
