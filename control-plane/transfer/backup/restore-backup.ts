/** Restores a backup in one transaction, as one revision. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { lineReason } from '../../../shared/policy/reasons/line-reasons.ts';
import type { BackupFile, RestoreAnswer } from '../../../shared/api/policy/backup-api.ts';
import { conflict, invalid } from '../../api/api-error.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { Author } from '../../api/caller.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../storage/db/database-errors.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { refuseOtherFolders } from '../../lists/sources/list-folder.ts';
import type { Configuration } from '../../policy/settings/configuration.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import type { RefusedFilter } from '../../policy/snapshot/build/manual-rules.ts';
import { looksLike } from '../../web/auth/accounts/user-name.ts';
import { readBackupFile, type Wanted } from './backup-file.ts';
import { diffItems, readItems, toApiChanges, toApiLeftOut } from './backup-items.ts';
import type { BackupItems, KindChange, LeftOut } from './backup-items.ts';
import { KNOWN_CLIENTS } from './access-kinds.ts';
import { certificateItems, checkCertificate, shareCertificate } from './certificate-items.ts';
import type { CertificateParts } from './certificate-items.ts';
import { valuesOfItems } from './configuration-items.ts';
import { KINDS } from './backup-kinds.ts';
import type { Item, KindName } from './backup-kind.ts';
import { storeChanges, type StoredChanges } from './store-changes.ts';

const ADMIN_NAME = 'auth.admin.username';

/** Dependencies of a restore. */
export interface RestoreParts extends CertificateParts {
  readonly configuration: Pick<Configuration, 'current' | 'faultsOfRows' | 'written' | 'writtenWith'>;
  readonly logger: Logger;
  readonly database: Database;
  readonly policy: PolicyChanges;
  readonly clients: Pick<ClientDirectory, 'takeOver'>;
  readonly clock: Clock;
  /** `clearCallers` clears the cached sessions and tokens. */
  readonly auth: { readonly adminName: string; clearCallers(): void };
  /** Applies stored rows and lists. */
  readonly activateRestored: () => Promise<void>;
}

/** The planned changes of a restore. */
interface Plan {
  readonly changes: readonly KindChange[];
  readonly leftOut: readonly LeftOut[];
}

/** Result of a restore. */
interface Restored extends Plan, Omit<StoredChanges, 'outside'> {}

/** Previews a restore. @throws {ApiError} 400 */
export async function tryRestore(parts: RestoreParts, file: BackupFile): Promise<RestoreAnswer> {
  const plan = await parts.database.transaction(async (tx) => planFor(tx, file, parts));
  return { dry_run: true, revision: null, ...toAnswer(plan) };
}

/** Stores the contents of the file and applies them. @throws {ApiError} 400, 409 */
export async function restoreBackup(
  parts: RestoreParts,
  file: BackupFile,
  author: Author,
): Promise<RestoreAnswer> {
  const { list_dirs: listDirs } = parts.configuration.current().blocking;
  for (const [index, { url }] of (file.list_sources ?? []).entries())
    await refuseOtherFolders(url, listDirs, `list_sources.${index}.url`);
  const work = async (tx: Queryable): Promise<Changed<Restored>> => {
    const plan = await planFor(tx, file, parts);
    const { outside, ...result } = await refusingConflicts(() =>
      storeChanges(tx, plan.changes, refuseFilter),
    );
    for (const item of newOnes(plan, 'certificates')) await shareCertificate(parts, tx, item);
    const subject = codedSubject('backup', { time: file.created_at });
    const summary = { subject, action: codedAction('restored') };
    return { result: { ...plan, ...result }, outside, summary };
  };
  const { result, revision } = await parts.policy
    .changeWithRevision(author, work, (restored) => {
      parts.clients.takeOver(restored);
      return parts.activateRestored();
    })
    .finally(() => parts.auth.clearCallers());
  if (newOnes(result, 'certificates').length > 0) await takeCertificate(parts);
  return { dry_run: false, revision, ...toAnswer(result) };
}

function toAnswer({ changes, leftOut }: Plan): Pick<RestoreAnswer, 'changes' | 'left_out'> {
  return { changes: toApiChanges(changes), left_out: toApiLeftOut(leftOut) };
}

/**
 * Failures are rare, because a check has just shown that the files can be replaced; the certificate is then installed
 * later.
 */
async function takeCertificate({ sharedCertificate, logger }: RestoreParts): Promise<void> {
  try {
    await sharedCertificate.take();
  } catch (error) {
    logger.error('could not install the restored certificate; retrying later', {
      reason: reasonOf(error),
    });
  }
}

async function planFor(tx: Queryable, file: BackupFile, parts: RestoreParts): Promise<Plan> {
  const now = new Date(parts.clock.nowMs());
  const current = await readItems(tx, now, new Map([['certificates', certificateItems(parts)]]));
  const { items, leftOut } = await withKnownClients(
    tx,
    readBackupFile(file, current, { now, adminName: parts.auth.adminName }),
  );
  const plan = { changes: diffItems(current, items), leftOut };
  if (plan.changes.some(({ kind }) => kind.name === 'configuration')) {
    const faults = parts.configuration.faultsOfRows(valuesOfItems(items.get('configuration') ?? []));
    if (faults.length > 0)
      throw invalid(faults.map((fault) => ({ ...fault, path: `configuration.${fault.path}` })));
    refuseTakenName(parts, items, current);
  }
  for (const item of newOnes(plan, 'certificates')) await checkCertificate(parts, item);
  return plan;
}

/** The administrator must not get the name of a user, who could then no longer log in. */
function refuseTakenName({ configuration }: RestoreParts, items: BackupItems, current: BackupItems): void {
  const values = valuesOfItems(items.get('configuration') ?? []);
  const { username } = configuration.writtenWith(values).auth.admin;
  if (username === configuration.written().auth.admin.username) return;
  const users = items.get('users') ?? current.get('users') ?? [];
  if (users.some((user) => looksLike(String(user['username']), username)))
    throw invalid([{ path: `configuration.${ADMIN_NAME}`, message: `a user has the name "${username}"` }]);
}

function newOnes({ changes }: Plan, name: KindName): readonly Item[] {
  return changes.flatMap(({ kind, created, changed }) =>
    kind.name === name ? [...created, ...changed] : [],
  );
}

/** Removes grants and links of clients that are neither known to this node nor in the file. */
async function withKnownClients(tx: Queryable, wanted: Wanted): Promise<Wanted> {
  return withKnownClientsOf('grants', tx, await withKnownClientsOf('user_clients', tx, wanted));
}

async function withKnownClientsOf(
  name: 'grants' | 'user_clients',
  tx: Queryable,
  wanted: Wanted,
): Promise<Wanted> {
  const { items, leftOut } = wanted;
  const things = items.get(name);
  if (things === undefined) return wanted;
  const { rows } = await tx.query<{ client: string }>(KNOWN_CLIENTS, [things.map(({ client }) => client)]);
  const own = (items.get('clients') ?? []).map(
    (item) => item['mac_address'] ?? item['ip_address'] ?? item['client_key'],
  );
  const known = new Set([null, ...rows.map(({ client }) => client), ...own]);
  const kind = KINDS.find((one) => one.name === name)!;
  const unknown = things.filter(({ client }) => !known.has(client));
  return {
    items: new Map([...items, [name, things.filter(({ client }) => known.has(client))]]),
    leftOut: [...leftOut, ...unknown.map((item) => ({ kind, item, reason: 'client_not_known' as const }))],
  };
}

async function refusingConflicts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isForeignKeyViolation(error))
      throw conflict(
        'a group that is not in the backup is used by objects that are not in the backup either',
      );
    if (isUniqueViolation(error)) throw conflict('two objects in the backup have conflicting names');
    throw error;
  }
}

/** Throws 400: a filter that was active or is new cannot be used. */
function refuseFilter([refused]: readonly [RefusedFilter, ...RefusedFilter[]]): never {
  const message = lineReason('with_filters', refused);
  throw invalid([{ path: 'regex_filters', message }]);
}
