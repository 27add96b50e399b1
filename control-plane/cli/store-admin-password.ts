/**
 * Stores the administrator's password hash from the command line, in the configured database. If Weir is running on the
 * data directory, its database is used without migrations. If it is not running, the database is started and migrated
 * for this command.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { codedAction, codedSubject } from '../../shared/policy/changes/change-codes.ts';
import type { LoadedConfig } from '../../config/parse-config.ts';
import type { Config } from '../../config/schema.ts';
import { SYSTEM } from '../api/caller.ts';
import { recordAudit } from '../policy/audit/audit-store.ts';
import { replaceHash } from '../web/auth/accounts/credential-store.ts';
import { ADMIN_USER_ID, updateUser } from '../web/auth/accounts/user-store.ts';
import { deleteSessionsOfUser } from '../web/auth/sessions/session-store.ts';
import { SetupCode } from '../web/auth/setup-code.ts';
import { DataDirError, lockDataDir } from '../storage/db/data-dir-lock.ts';
import type { DataDirLock } from '../storage/db/data-dir-lock.ts';
import { startDatabase } from '../storage/db/database.ts';
import { DatabaseUnavailable } from '../storage/db/database-errors.ts';
import { reasonOf } from '../../shared/errors.ts';
import { databaseOptionsOf, embeddedTarget, parseDatabaseUrls } from '../storage/db/database-target.ts';
import type { Queryable } from '../storage/db/queryable.ts';
import { runningServerAddress } from '../storage/db/running-postgres.ts';
import { SeenServer } from '../storage/db/seen-server.ts';
import { connectToChosen } from '../storage/db/server-choice.ts';
import { createLogger } from '../host/log/winston-logger.ts';

/** Maximum wait for the database, in milliseconds. */
const WAIT_MS = 30_000;
/** Pause between two attempts to connect, in milliseconds. */
const RETRY_MS = 250;

/** Stores `passwordHash`, and ends all sessions. Throws if the database is unavailable. */
export async function storeAdminPassword({ config }: LoadedConfig, passwordHash: string): Promise<void> {
  const dataDir = config.server.data_dir;
  const lock = lockUnlessRunning(dataDir);
  if (lock === null) await storeWithServer(config, passwordHash);
  else await storeWithoutServer(config, lock, passwordHash);
  await new SetupCode(dataDir, loggerOf(config)).remove();
}

/** Locks the data directory; null if Weir is running on it. */
function lockUnlessRunning(dataDir: string): DataDirLock | null {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof DataDirError && error.reason === 'in_use') return null;
    throw error;
  }
}

async function storeWithoutServer(config: Config, lock: DataDirLock, passwordHash: string): Promise<void> {
  const database = startDatabase({ ...databaseOptionsOf(config.database), lock, logger: loggerOf(config) });
  try {
    await Promise.race([database.whenUp(), late(database)]);
    await database.transaction((tx) => storeIn(tx, passwordHash));
  } finally {
    await database.close();
    lock.release();
  }
}

/** Stores the hash in the database of the running server. Only rows are changed, because the server owns the schema. */
async function storeWithServer(config: Config, passwordHash: string): Promise<void> {
  const client = await connectInTime(config);
  const tx: Queryable = {
    query: (text, values) => client.query(text, values === undefined ? undefined : [...values]),
  };
  try {
    await tx.query('BEGIN');
    await storeIn(tx, passwordHash);
    await tx.query('COMMIT');
  } finally {
    await client.end();
  }
}

async function connectInTime(config: Config) {
  const untilMs = performance.now() + WAIT_MS;
  const seen = new SeenServer(config.server.data_dir, loggerOf(config));
  for (;;) {
    try {
      return (await connectToChosen(targetsOf(config), seen)).client;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      if (performance.now() > untilMs)
        throw new Error(`could not store the password: no database: ${reasonOf(error)}`, { cause: error });
      await sleep(RETRY_MS);
    }
  }
}

function targetsOf(config: Config) {
  const { urls, urlKeys } = databaseOptionsOf(config.database);
  const external = parseDatabaseUrls(urls, [], urlKeys);
  return external.length > 0 ? external : [embeddedTarget(runningServerAddress(config.server.data_dir))];
}

async function storeIn(tx: Queryable, passwordHash: string): Promise<void> {
  // Locks the user's row: waits for logins with the old password that are in progress, and makes new logins wait.
  await updateUser(tx, ADMIN_USER_ID, {});
  await replaceHash(tx, passwordHash, new Date());
  await deleteSessionsOfUser(tx, ADMIN_USER_ID);
  await recordAudit(tx, {
    actor: SYSTEM,
    subject: codedSubject('admin_password'),
    action: codedAction('changed'),
  });
}

function loggerOf(config: Config) {
  return createLogger({ ...config.logging, level: 'error' });
}

function late(database: ReturnType<typeof startDatabase>): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => {
      reject(
        new Error(
          `could not store the password: no database: ${database.status().error ?? 'it does not answer'}`,
        ),
      );
    }, WAIT_MS).unref();
  });
}
