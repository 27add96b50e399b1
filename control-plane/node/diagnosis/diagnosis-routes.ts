/** HTTP routes of `{api}/system/storage` and `{api}/system/log`. */
import { SystemLog, SystemStorage } from '../../../shared/api/system-api.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { RecentLines } from '../../host/log/recent-lines.ts';
import type { DiskSpace } from '../../metrics/checks/disk-space.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { readDatabaseBytes } from './database-size.ts';

/** The routes of the diagnosis. */
export function diagnosisRoutes(context: {
  disk: Pick<DiskSpace, 'now'>;
  database: Queryable & Pick<Database, 'status'>;
  recentLines: Pick<RecentLines, 'all'>;
}): Route[] {
  const { disk, database, recentLines } = context;
  return [
    route({
      method: 'GET',
      path: '/system/storage',
      access: 'viewer',
      tag: 'System',
      summary: 'Free space on the disk of the data directory, and the size of the database',
      answer: SystemStorage,
      handle: async () => {
        const state = disk.now();
        return {
          disk_free_bytes: state?.freeBytes ?? null,
          disk_size_bytes: state?.sizeBytes ?? null,
          spool_bytes: state?.spoolBytes ?? null,
          database_bytes: await databaseBytes(database),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/system/log',
      access: 'admin',
      tag: 'System',
      summary: 'The newest warnings and errors in the log of this node, the newest first',
      answer: SystemLog,
      handle: () =>
        recentLines.all().map(({ timestampMs, level, message, fields }) => ({
          timestamp: new Date(timestampMs).toISOString(),
          level,
          message,
          fields,
        })),
    }),
  ];
}

/** The size of the database; null without a database. All other values of the response come from memory. */
async function databaseBytes(database: Queryable & Pick<Database, 'status'>): Promise<number | null> {
  if (database.status().state !== 'up') return null;
  return readDatabaseBytes(database).catch(() => null);
}
