/** HTTP of `{api}/backup` and `{api}/restore`. */
import { BackupFile, BackupQuery, RestoreAnswer, RestoreQuery } from '../../shared/api/policy/backup-api.ts';
import type { Config } from '../../config/schema.ts';
import { authorOf, route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { toBackupFile } from './backup-file.ts';
import { readItems } from './backup-items.ts';
import { restoreBackup, tryRestore } from './restore-backup.ts';
import type { RestoreParts } from './restore-backup.ts';

/** Largest file that is restored. */
const MAX_BACKUP_BYTES = 64 * 1024 * 1024;

/** What these rows are made of. */
export interface BackupRouteParts extends Omit<RestoreParts, 'listDirs'> {
  readonly version: string;
  readonly nodeName: string;
  /** Asked for each request, because a reload replaces it. */
  readonly config: () => Pick<Config, 'blocking'>;
}

/** Rows of backup and restore. */
export function backupRoutes(parts: BackupRouteParts): Route[] {
  return [readBackup(parts), restore(parts)];
}

function readBackup({ clock, database, nodeName, version }: BackupRouteParts): Route {
  return route({
    method: 'GET',
    path: '/backup',
    access: 'admin',
    tag: 'Backup',
    summary: 'Everything that people have set, as one file for POST /restore',
    query: BackupQuery,
    media: ['application/json'],
    handle: async ({ query, response }) => {
      const items = await database.transaction(async (tx) => {
        await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
        return readItems(tx, new Date(clock.nowMs()));
      });
      const createdAt = new Date(clock.nowMs());
      const head = { createdAt, weir: version, node: nodeName, hasSecrets: query.secrets };
      const day = createdAt.toISOString().slice(0, 10);
      response.set('Content-Disposition', `attachment; filename="weir-backup-${day}.json"`);
      response.json(toBackupFile(items, head));
    },
  });
}

function restore(parts: BackupRouteParts): Route {
  const restoreParts = { ...parts, listDirs: () => parts.config().blocking.list_dirs };
  return route({
    method: 'POST',
    path: '/restore',
    access: 'admin',
    tag: 'Backup',
    summary: 'Set everything as a backup says; kinds that it leaves out stay as they are',
    query: RestoreQuery,
    body: BackupFile,
    answer: RestoreAnswer,
    errors: { 409: 'a group that the backup does not have is in use by things that it leaves out' },
    bodyLimitBytes: MAX_BACKUP_BYTES,
    handle: (request) =>
      request.query.dry_run
        ? tryRestore(restoreParts, request.body)
        : restoreBackup(restoreParts, request.body, authorOf(request)),
  });
}
