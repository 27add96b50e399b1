/**
 * The commands that copy and restore the whole embedded database; they must run on the machine that has the data
 * directory.
 */
import type { LoadedConfig } from '../../config/parse-config.ts';
import type { Terminal } from './terminal.ts';
import { lockDataDir } from '../storage/db/data-dir-lock.ts';
import { parseDatabaseUrls } from '../storage/db/database-target.ts';
import { useAddress } from '../storage/db/postgres/start-server.ts';
import { runningServerAddress } from '../storage/db/running-postgres.ts';
import { createLogger } from '../host/log/winston-logger.ts';
import { makeFullCopy } from '../storage/db/full-copy/make-full-copy.ts';
import { restoreFullCopy } from '../storage/db/full-copy/restore-full-copy.ts';

/**
 * Message for users with their own PostgreSQL, which Weir cannot copy completely, because it knows neither the roles
 * nor the other databases of the server.
 */
const EXTERNAL =
  'database.url is set to an external PostgreSQL server; copy it with pg_dump or pg_basebackup, which ' +
  'include its roles and write-ahead log';

const MIB = 1 << 20;

/** Copies the database of the running Weir server to a file; returns the exit status. */
export async function backUpFully(
  { config }: LoadedConfig,
  file: string,
  version: string,
  terminal: Terminal,
): Promise<0 | 1> {
  if (isExternal(config.database.url)) return refuse(terminal, EXTERNAL);
  const { signal } = new AbortController();
  return useAddress(runningServerAddress(config.server.data_dir), signal, async (client) => {
    const sizeBytes = await makeFullCopy({
      client,
      dataDir: config.server.data_dir,
      file,
      weir: version,
      report: ({ at, of, table, sizeBytes: size }) =>
        terminal.err(`${String(at)} of ${String(of)}: ${table} (${megabytes(size)})`),
    });
    terminal.out(`${file}: ${megabytes(sizeBytes)}; it contains every secret of this Weir, so keep it safe`);
    return 0 as const;
  });
}

/** Restores a copy of the database to an empty data directory; returns the exit status. */
export async function restoreFully(
  { config }: LoadedConfig,
  file: string,
  terminal: Terminal,
): Promise<0 | 1> {
  if (isExternal(config.database.url)) return refuse(terminal, EXTERNAL);
  const lock = lockDataDir(config.server.data_dir);
  try {
    const logger = createLogger({ ...config.logging, level: 'error' });
    const report = (table: string): void => terminal.err(`restoring ${table}`);
    const head = await restoreFullCopy({ file, dataDir: lock.dataDir, logger, report });
    terminal.out(`restored the copy of ${head.created_at}, made by Weir ${head.weir}; start Weir to use it`);
    return 0;
  } finally {
    lock.release();
  }
}

function isExternal(urls: readonly string[]): boolean {
  return parseDatabaseUrls(urls).length > 0;
}

function refuse(terminal: Terminal, reason: string): 1 {
  terminal.err(`weir: ${reason}`);
  return 1;
}

function megabytes(sizeBytes: number): string {
  return `${(sizeBytes / MIB).toFixed(1)} MiB`;
}
