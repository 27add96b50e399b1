/**
 * Moves the embedded database to a new major version of PostgreSQL, whose servers cannot read the files of other
 * versions. Servers of both versions run during the move: the programs of the earlier version were kept in the home
 * directory (`postgres-runtime.ts`). First, all tables except the log are copied, while the database is unavailable to
 * Weir; then the days of the log are copied in the background. A step that fails is retried; until the first step
 * succeeds, Weir uses the earlier server.
 */
import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import type { Logger } from '../../../../shared/log.ts';
import { reasonOf } from '../../../../shared/errors.ts';
import { createCluster, syncCluster } from '../postgres/postgres-cluster.ts';
import { ROLE, type PostgresAddress } from '../postgres/postgres-address.ts';
import { madeBy, type PostgresHome } from '../postgres/postgres-home.ts';
import { lowerSession, NICENESS } from '../postgres/process-priority.ts';
import { useAddress, useServer } from '../postgres/start-server.ts';
import { beforeOf, dropBefore, exchangeClusters, nextOf } from './cluster-folders.ts';
import { copyDays } from './copy-days.ts';
import { copyTables } from './copy-tables.ts';

/** Progress, as shown to users. */
export interface UpgradeState {
  readonly detail: string;
  /** Whether the upgrade can only continue after an administrator has changed something. */
  readonly isStuck: boolean;
}

/** Input of both parts of the upgrade. */
export interface UpgradeTask {
  readonly home: PostgresHome;
  /** Directories with `bin/postgres`: of the version that created the earlier cluster, and of the installed version. */
  readonly runtimes: { readonly before: string; readonly after: string };
  readonly password: string;
  /** Upgrades a database to the schema of this release. */
  readonly migrate: (client: ClientBase) => Promise<unknown>;
  readonly report: (state: UpgradeState | undefined) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Bytes that must stay free for the write-ahead log of the server in use and for the files of an empty new cluster. */
const RESERVE_BYTES = 300 << 20;
/** Milliseconds between two attempts, doubled after each attempt up to `last`. */
const RETRY_MS = { first: 2000, last: 120_000 } as const;
/** Settings of the earlier server: little memory and no maintenance. */
const SLIM = { shared_buffers: '16MB', autovacuum: 'off' } as const;

/**
 * Settings without durability while a cluster is being filled: the whole cluster is flushed to disk before it is used.
 */
const UNSAFE = { fsync: 'off', full_page_writes: 'off' } as const;

/** Moves all tables except the log, and activates the new cluster. No server may be running on the current cluster. */
export async function moveTables(task: UpgradeTask): Promise<void> {
  const { home, runtimes, logger } = task;
  const next = nextOf(home);
  const versions = `from PostgreSQL ${madeBy(home)}`;
  logger.info(`moving the database ${versions}`);
  task.report({ detail: `moving the database ${versions}`, isStuck: false });
  const filling = { ...task, home: next, runtime: runtimes.after, settings: UNSAFE };
  await createCluster({ ...filling, role: ROLE });
  const before = { ...task, runtime: runtimes.before, socketFolder: 'run.before', settings: SLIM };
  await useServer(before, (from) =>
    useServer(filling, (to) =>
      copyTables(
        { from, to },
        {
          migrate: task.migrate,
          checkFreeSpace: (sizeBytes) => checkFreeSpace(home, sizeBytes),
          report: (table) =>
            task.report({ detail: `moving the database ${versions}: ${table}`, isStuck: false }),
        },
      ),
    ),
  );
  await syncCluster(filling);
  await exchangeClusters(home);
  logger.info(`moved the database ${versions}, except for the query log`);
}

/** Moves the days of the log to the database in use, until all are moved or the signal is aborted. */
export async function moveDays(task: UpgradeTask, inUse: () => Promise<PostgresAddress>): Promise<void> {
  const { home, logger, signal } = task;
  task.report({ detail: `moving the query log from PostgreSQL ${madeBy(beforeOf(home))}`, isStuck: false });
  let pauseMs: number = RETRY_MS.first;
  for (let isDone = false; !isDone; pauseMs = Math.min(pauseMs * 2, RETRY_MS.last)) {
    try {
      await moveDaysOnce(task, inUse);
      isDone = true;
    } catch (error) {
      if (signal.aborted) return;
      const reason = reasonOf(error);
      logger.warn('could not move the query log; retrying later', { reason });
      task.report({ detail: `the earlier query log is still incomplete: ${reason}`, isStuck: true });
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
  task.report(undefined);
}

async function moveDaysOnce(task: UpgradeTask, inUse: () => Promise<PostgresAddress>): Promise<void> {
  const { home, runtimes, logger, signal } = task;
  const earlier = beforeOf(home);
  const place = {
    ...task,
    home: earlier,
    runtime: runtimes.before,
    socketFolder: 'run.before',
    settings: SLIM,
  };
  const versions = `from PostgreSQL ${madeBy(earlier)}`;
  await useServer(place, async (from) =>
    useAddress(await inUse(), signal, async (to) => {
      for (const session of [from, to]) lowerSession(session, NICENESS.behindLog, logger);
      await copyDays(
        { from, to },
        {
          migrate: task.migrate,
          checkFreeSpace: (sizeBytes) => checkFreeSpace(home, sizeBytes),
          report: ({ days, sizeBytes }) => {
            const detail = `moving the query log ${versions}: ${days} days (${megabytes(sizeBytes)}) are left`;
            logger.info(detail);
            task.report({ detail, isStuck: false });
          },
        },
      );
    }),
  );
  await dropBefore(home);
  logger.info(`moved the query log ${versions}`);
}

/** Throws if this many additional bytes would fill the disk. */
async function checkFreeSpace({ dir }: PostgresHome, sizeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  const needed = sizeBytes + RESERVE_BYTES;
  if (bavail * bsize >= needed) return;
  throw new Error(`${dir} needs ${megabytes(needed)} of free space and has ${megabytes(bavail * bsize)}`);
}

function megabytes(sizeBytes: number): string {
  return `${Math.ceil(sizeBytes / 2 ** 20)} MiB`;
}
