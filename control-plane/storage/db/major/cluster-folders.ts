/**
 * The directories of a major upgrade, next to the cluster. `cluster.next` is being filled; once complete, it replaces
 * `cluster`, which becomes `cluster.before` until the log has also been moved out of it. The existing directories show
 * the progress of an upgrade, so that it can continue after any interruption.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../../../shared/log.ts';
import { syncFolder } from '../../../host/files/durable-file.ts';
import { hasCluster, type PostgresHome } from '../postgres/postgres-home.ts';
import { endOrphans } from '../postgres/postgres-process.ts';

/** The home directory, with the cluster that is being filled as its cluster. */
export function nextOf(home: PostgresHome): PostgresHome {
  return { ...home, cluster: join(home.dir, 'cluster.next') };
}

/** The home directory, with the cluster of the earlier major version as its cluster. */
export function beforeOf(home: PostgresHome): PostgresHome {
  return { ...home, cluster: join(home.dir, 'cluster.before') };
}

/** Cleans up the directories at the start: completes an interrupted exchange and deletes incomplete directories. */
export async function settleClusters(home: PostgresHome, logger: Logger): Promise<void> {
  rmSync(deletionName(home), { recursive: true, force: true });
  const [next, before] = [nextOf(home), beforeOf(home)];
  for (const { cluster } of [next, before]) if (existsSync(cluster)) await endOrphans(cluster, logger);
  if (hasCluster(home)) rmSync(next.cluster, { recursive: true, force: true });
  else if (hasCluster(next) && hasCluster(before)) await rename(next.cluster, home.cluster, home);
}

/** Replaces the current cluster with the next one. No server may be running on either cluster. */
export async function exchangeClusters(home: PostgresHome): Promise<void> {
  await rename(home.cluster, beforeOf(home).cluster, home);
  await rename(nextOf(home).cluster, home.cluster, home);
}

/** Deletes the cluster of the earlier version, which is no longer needed. */
export async function dropBefore(home: PostgresHome): Promise<void> {
  await rename(beforeOf(home).cluster, deletionName(home), home);
  rmSync(deletionName(home), { recursive: true, force: true });
}

/** Name of a directory while it is being deleted, because a partly deleted directory must not look like a cluster. */
function deletionName({ dir }: PostgresHome): string {
  return join(dir, 'cluster.gone');
}

async function rename(from: string, to: string, { dir }: PostgresHome): Promise<void> {
  renameSync(from, to);
  await syncFolder(dir);
}
