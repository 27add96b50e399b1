/** A PostgreSQL primary with a standby that follows it by streaming replication and can be promoted. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import {
  DATABASE,
  type PostgresAddress,
  ROLE,
} from '../../../control-plane/storage/db/postgres/postgres-address.ts';
import {
  launchPostgres,
  type RunningPostgres,
  serversOn,
} from '../../../control-plane/storage/db/postgres/postgres-process.ts';
import {
  openPostgresHome,
  type PostgresHome,
} from '../../../control-plane/storage/db/postgres/postgres-home.ts';
import {
  findPostgresPackage,
  prepareRuntime,
} from '../../../control-plane/storage/db/postgres/postgres-runtime.ts';
import { choosePostgresSocket } from '../../../control-plane/storage/db/postgres/postgres-socket.ts';
import { type Content, EMPTY, layCluster } from '../parts/made-cluster.ts';
import { MemoryLogger } from '../parts/memory-logger.ts';
import { until, WAIT_MS, within } from '../parts/until.ts';

/** A running pair. */
export interface ReplicatedDatabase extends AsyncDisposable {
  /** Both servers in one URL, in the form of `database.url`. */
  readonly url: string;
  /** URLs of the individual servers. */
  readonly urls: { readonly primary: string; readonly standby: string };
  /** Stops the replication: later writes are only on the primary. */
  cutOff(): Promise<void>;
  /** Kills the primary and promotes the standby. */
  failOver(): Promise<void>;
  /** Promotes the standby while the primary keeps running, as if nothing fenced the primary. */
  promote(): Promise<void>;
  /** Kills the promoted server. */
  killPromoted(): Promise<void>;
  /** Rows of a query on the server that accepts writes. */
  rows<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
  /** Rows of a query on the original primary. */
  rowsOfFirst<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
}

/** Settings of both servers. */
const SETTINGS = {
  wal_level: 'replica',
  shared_buffers: '16MB',
  io_method: 'sync',
  // The standby reconnects soon after it has lost the primary.
  wal_retrieve_retry_interval: '100ms',
  log_line_prefix: '',
  log_destination: 'stderr',
  logging_collector: 'off',
};
const STOP_MS = 5000;

interface Server {
  readonly running: RunningPostgres;
  readonly address: PostgresAddress;
  readonly url: string;
}

/**
 * Starts a pair in a folder; stops everything if this fails. With `isSynchronous`, a commit waits for the standby,
 * except a commit that does not even wait for the disk.
 */
export async function startReplicatedDatabase(
  dir: string,
  { isSynchronous = false, content = EMPTY }: { isSynchronous?: boolean; content?: Content } = {},
): Promise<ReplicatedDatabase> {
  await using stack = new AsyncDisposableStack();
  const folders = { primary: join(dir, 'primary'), standby: join(dir, 'standby') };
  await layCluster(folders.primary, content);
  const password = readFileSync(join(folders.primary, 'postgres.password'), 'utf8').trim();
  const homes = { primary: openPostgresHome(folders.primary), standby: openStandbyHome(folders.standby) };
  // Opens the cluster once with the higher `wal_level`, because a standby cannot follow WAL of a lower level.
  await (await launch(homes.primary, password)).running.stop(STOP_MS);
  execFileSync('cp', ['-a', homes.primary.cluster, homes.standby.cluster]);
  const primary = await launch(
    homes.primary,
    password,
    isSynchronous ? { synchronous_standby_names: '*' } : {},
  );
  stack.defer(() => primary.running.stop(STOP_MS));
  follow(homes.standby, primary.address);
  const standby = await launch(homes.standby, password);
  stack.defer(() => standby.running.stop(STOP_MS));
  await untilStandbys(primary, 1);
  let active = primary;
  const kill = async ({ running }: Server, { cluster }: PostgresHome): Promise<void> => {
    for (const pid of serversOn(cluster)) killIfThere(pid);
    await within(`PostgreSQL in ${cluster} to end after SIGKILL`, running.exited);
  };
  const promote = async (): Promise<void> => {
    await ask(standby, 'SELECT pg_promote()');
    active = standby;
  };
  const servers = stack.move();
  return {
    url: `${primary.url},${standby.url}`,
    urls: { primary: primary.url, standby: standby.url },
    rows: (sql) => ask(active, sql),
    async cutOff() {
      await ask(standby, `ALTER SYSTEM SET primary_conninfo = ''`);
      await ask(standby, 'SELECT pg_reload_conf()');
      await untilStandbys(primary, 0);
    },
    async promote() {
      // Waits for the standby, which may not have received all data that the primary has committed.
      const [written] = await ask<{ at: string }>(primary, 'SELECT pg_current_wal_lsn()::text AS at');
      const exists = `SELECT at, at >= '${written!.at}' AS yes FROM pg_last_wal_replay_lsn() AS at`;
      await until(
        `the standby to replay the WAL up to ${written!.at}`,
        async () => (await ask<{ at: string; yes: boolean }>(standby, exists))[0]!,
        ({ yes }) => yes,
      );
      await promote();
    },
    async failOver() {
      await kill(primary, homes.primary);
      await promote();
    },
    killPromoted: () => kill(standby, homes.standby),
    rowsOfFirst: (sql) => ask(primary, sql),
    [Symbol.asyncDispose]: () => servers.disposeAsync(),
  };
}

function openStandbyHome(dataDir: string): PostgresHome {
  mkdirSync(dataDir, { mode: 0o711 });
  return openPostgresHome(dataDir);
}

/** Turns a copy of a cluster into the standby of a server. */
function follow({ cluster }: PostgresHome, { host, port, user, password }: PostgresAddress): void {
  writeFileSync(join(cluster, 'standby.signal'), '');
  appendFileSync(
    join(cluster, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=${host} port=${String(port)} user=${user} password=${password}'\n`,
  );
}

async function launch(
  home: PostgresHome,
  password: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const { cluster, account } = home;
  const runtime = prepareRuntime(findPostgresPackage(), account, home.dir);
  const { host, port, settings: listening } = await choosePostgresSocket(home);
  const settings = { ...SETTINGS, ...listening, ...more };
  const running = await launchPostgres({ runtime, cluster, account, settings, logger: new MemoryLogger() });
  const address = { host, port, user: ROLE, password, database: DATABASE };
  const url = `postgres://${ROLE}:${password}@localhost:${String(port)}/${DATABASE}?host=${encodeURIComponent(host)}`;
  return { running, address, url };
}

async function untilStandbys(primary: Server, count: number): Promise<void> {
  await until(
    `${String(count)} standbys at the primary`,
    () => ask<{ state: string }>(primary, 'SELECT state FROM pg_stat_replication'),
    (standbys) => standbys.length === count,
  );
}

async function ask<Row extends pg.QueryResultRow>({ address }: Server, sql: string): Promise<Row[]> {
  const client = new pg.Client({ ...address, connectionTimeoutMillis: WAIT_MS, query_timeout: WAIT_MS });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Kills a process, which may have ended since it was listed. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
