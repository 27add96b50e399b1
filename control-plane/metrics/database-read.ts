/** Database reads for metrics: a scrape does not wait for a database that is down or does not answer. */
import type { Database } from '../storage/db/database.ts';

/** Milliseconds for which a scrape waits for a read. */
const WAIT_MS = 1000;

/**
 * Reads with `read`, once for all simultaneous callers; null if the database is unavailable, if the read fails, or if
 * it takes too long. A read that hangs is not repeated until it ends.
 */
export function databaseRead<T>(
  database: Pick<Database, 'status'>,
  read: () => Promise<T>,
  waitMs = WAIT_MS,
): () => Promise<T | null> {
  let running: Promise<T | null> | undefined;
  return async () => {
    if (running === undefined && database.status().state !== 'up') return null;
    running ??= read()
      .catch(() => null)
      .finally(() => {
        running = undefined;
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, waitMs, null);
    });
    const value = await Promise.race([running, late]);
    clearTimeout(timer);
    return value;
  };
}
