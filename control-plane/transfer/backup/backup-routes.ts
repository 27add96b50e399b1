/** HTTP routes of `{api}/backup` and `{api}/restore`. */
import type { Response } from 'express';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import {
  BackupBody,
  BackupQuery,
  RestoreAnswer,
  RestoreBody,
  RestoreQuery,
} from '../../../shared/api/policy/backup-api.ts';
import type { BackupText } from '../../../shared/api/policy/backup-api.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Queryable } from '../../storage/db/queryable.ts';
import type { Configuration } from '../../policy/settings/configuration.ts';
import { readItems } from './backup-items.ts';
import { certificateItems } from './certificate-items.ts';
import { nodeConfiguration } from './configuration-items.ts';
import { withSecrets } from './secret-parts.ts';
import { toBackupFile } from './written-backup.ts';
import { restoreBackup, tryRestore } from './restore-backup.ts';
import type { RestoreParts } from './restore-backup.ts';

/** Maximum size of a backup file. */
const MAX_BACKUP_BYTES = 64 * 1024 * 1024;

/** Parts that the routes share. */
interface BackupContext extends RestoreParts {
  readonly configuration: RestoreParts['configuration'] & Pick<Configuration, 'written' | 'sources'>;
  readonly version: string;
  readonly nodeName: string;
}

/** The routes of backup and restore. */
export function backupRoutes(context: BackupContext): Route[] {
  return [readBackup(context), readBackupWithSecrets(context), restore(context)];
}

function readBackup(context: BackupContext): Route {
  return route({
    method: 'GET',
    path: '/backup',
    access: 'admin',
    tag: 'Backup',
    summary: 'A backup, as one file for POST /restore: everything that users have set, except secrets',
    query: BackupQuery,
    media: ['application/json'],
    handle: async ({ response }) => send(response, await makeBackup(context)),
  });
}

/** A POST, because a passphrase must not be in a URL. */
function readBackupWithSecrets(context: BackupContext): Route {
  return route({
    method: 'POST',
    path: '/backup',
    access: 'admin',
    tag: 'Backup',
    summary:
      'A backup that also contains the secrets, encrypted with a passphrase; recorded in the audit log',
    body: BackupBody,
    media: ['application/json'],
    waits: false,
    handle: async (request) => {
      const { response, body } = request;
      const backup = await makeBackup(context, body.passphrase, (tx) =>
        recordAudit(tx, {
          actor: authorOf(request),
          subject: codedSubject('secret_backup'),
          action: codedAction('read'),
        }),
      );
      send(response, backup);
    },
  });
}

function send(response: Response, backup: BackupText): void {
  const day = backup.created_at.slice(0, 10);
  response.set('Content-Disposition', `attachment; filename="weir-backup-${day}.json"`);
  response.json(backup);
}

async function makeBackup(
  { clock, database, nodeName, version, configuration, ...context }: BackupContext,
  passphrase?: string,
  record: (tx: Queryable) => Promise<void> = () => Promise.resolve(),
): Promise<BackupText> {
  const items = await database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await record(tx);
    return readItems(tx, new Date(clock.nowMs()), new Map([['certificates', certificateItems(context)]]));
  });
  const head = {
    createdAt: new Date(clock.nowMs()),
    weir: version,
    node: nodeName,
    nodeConfiguration: nodeConfiguration(configuration.written(), configuration.sources()),
  };
  return toBackupFile(items, head, passphrase);
}

function restore(context: BackupContext): Route {
  return route({
    method: 'POST',
    path: '/restore',
    access: 'admin',
    tag: 'Backup',
    summary: 'Restore a backup; kinds of objects that the file does not contain are not changed',
    query: RestoreQuery,
    body: RestoreBody,
    answer: RestoreAnswer,
    errors: { 409: 'objects that are not in the backup use a group that is not in the backup either' },
    bodyLimitBytes: MAX_BACKUP_BYTES,
    handle: async (request) => {
      const { passphrase, ...sealed } = request.body;
      const file = await withSecrets(sealed, passphrase);
      return request.query.dry_run
        ? tryRestore(context, file)
        : restoreBackup(context, file, authorOf(request));
    },
  });
}
