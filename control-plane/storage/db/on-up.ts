/** Runs work each time the database becomes available, so that callers need not wait for the database. */
import type { Logger } from '../../../shared/log.ts';
import { Retrying } from '../concurrency/retrying.ts';
import type { Database } from './database.ts';

/**
 * Runs `work` now if the database is up, and whenever it becomes available; retries until `work` succeeds. Returns a
 * function that stops these runs.
 */
export function onDatabaseUp(
  database: Database,
  logger: Logger,
  what: string,
  work: () => Promise<void>,
): () => Promise<void> {
  const isUp = (): boolean => database.status().state === 'up';
  // While the database is down, `work` would fail, so there is no attempt until the database becomes available.
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
