/** Makes the embedded cluster of a new data directory with what a full copy holds. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import type { ClientBase } from 'pg';
import type { Logger } from '../../../shared/log.ts';
import { syncFolder } from '../../files/durable-file.ts';
import { newPassword, writePassword } from '../embedded-cluster.ts';
import { nextOf } from '../major/cluster-folders.ts';
import { ROLE } from '../postgres/postgres-address.ts';
import { createCluster, syncCluster } from '../postgres/postgres-cluster.ts';
import { openPostgresHome } from '../postgres/postgres-home.ts';
import { findPostgresPackage, prepareRuntime } from '../postgres/postgres-runtime.ts';
import { useServer } from '../postgres/start-server.ts';

/** The data directory has a database already. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty';
}

/** While it is filled, a cluster may be lost; it is put on the disk as a whole before it is used. */
const UNSAFE = { fsync: 'off', full_page_writes: 'off' } as const;

/** Fills a cluster beside its place, and puts it there at the end: a failure leaves the directory without one. */
export async function createFilledCluster(
  dataDir: string,
  logger: Logger,
  fill: (client: ClientBase) => Promise<void>,
): Promise<void> {
  const source = findPostgresPackage();
  const home = openPostgresHome(dataDir);
  if (existsSync(home.cluster))
    throw new NotEmpty(
      `${home.cluster} exists: a full copy is restored into an empty data directory; move ${dataDir} away first`,
    );
  const runtime = prepareRuntime(source, home.account, home.dir);
  const next = nextOf(home);
  rmSync(next.cluster, { recursive: true, force: true });
  const password = newPassword();
  const { signal } = new AbortController();
  const task = { home: next, runtime, role: ROLE, password, signal, logger };
  try {
    await createCluster(task);
    await useServer({ ...task, settings: UNSAFE }, fill);
    await syncCluster(task);
    writePassword(dataDir, password);
    renameSync(next.cluster, home.cluster);
  } catch (error) {
    rmSync(next.cluster, { recursive: true, force: true });
    throw error;
  }
  await syncFolder(home.dir);
}
