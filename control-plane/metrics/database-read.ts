/** Database reads for metrics: a scrape does not wait for a database that is down or does not answer. */
import type { Database } from '../storage/db/database.ts';

/** Milliseconds for which a scrape waits for a read. */
const WAIT_MS = 1000;

/**
 * Returns a function that calls `read`, once for all simultaneous callers. Its result is null if the database is
 * unavailable, or if the read fails or takes too long. While a read hangs, no other read is started.
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
