/**
 * Stores the administrator's password hash from the command line: in the database that the configuration
 * names. With the embedded database a running Weir holds the data directory, so it must be stopped first,
 * or the password changed through its API.
 */
import type { LoadedConfig } from '../../config/parse-config.ts';
import { replaceHash } from '../auth/credential-store.ts';
import { deleteSessionsOfUser } from '../auth/session-store.ts';
import { lockDataDir } from '../db/data-dir-lock.ts';
import { startDatabase } from '../db/database.ts';
import { createLogger } from '../log.ts';

/** Longest wait for the database, milliseconds. */
const WAIT_MS = 30_000;

/** Puts `passwordHash` where logins look for it, and ends all sessions. Throws where there is no database. */
export async function storeAdminPassword({ config }: LoadedConfig, passwordHash: string): Promise<void> {
  const lock = lockDataDir(config.server.data_dir);
  const logger = createLogger({ ...config.logging, level: 'error' });
  const database = startDatabase({ urls: config.database.url, lock, logger });
  try {
    await Promise.race([database.whenUp(), late(database)]);
    await database.transaction(async (tx) => {
      await replaceHash(tx, passwordHash, new Date());
      await deleteSessionsOfUser(tx, config.auth.admin.username, null);
    });
  } finally {
    await database.close();
    lock.release();
  }
}

function late(database: ReturnType<typeof startDatabase>): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => {
      reject(
        new Error(`store the password: no database: ${database.status().error ?? 'it does not answer'}`),
      );
    }, WAIT_MS).unref();
  });
}
