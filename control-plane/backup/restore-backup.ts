/** Puts a backup into force: one transaction, which is one revision. */
import type { BackupFile, RestoreAnswer } from '../../shared/api/policy/backup-api.ts';
import { conflict, invalid } from '../api/api-error.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import { reasonOf } from '../../shared/thrown.ts';
import type { Author } from '../api/caller.ts';
import type { ClientDirectory } from '../clients/client-directory.ts';
import type { StoredClient } from '../clients/client-record.ts';
import { changedRow } from '../clients/client-change.ts';
import { readClientsById } from '../clients/client-store.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../db/database-errors.ts';
import type { Database, Queryable } from '../db/database.ts';
import { refuseOtherFolders } from '../lists/sources/list-folder.ts';
import type { Configuration } from '../settings/configuration.ts';
import type { Changed, ChangedRow, PolicyChanges } from '../policy/change.ts';
import { newlyRefusedFilters } from '../rules/filter-budget.ts';
import { readBackupFile, type Wanted } from './backup-file.ts';
import { diffItems, readItems, shownChanges, shownLeftOut } from './backup-items.ts';
import type { KindChange, LeftOut } from './backup-items.ts';
import { KNOWN_CLIENTS } from './access-kinds.ts';
import { certificateItems, checkCertificate, shareCertificate } from './certificate-items.ts';
import type { CertificateParts } from './certificate-items.ts';
import { hiddenValue, valuesOfItems } from './configuration-items.ts';
import { CLIENT_IDS, KINDS } from './backup-kinds.ts';
import type { Item, KindName } from './backup-kind.ts';

/** Parts of a restore. */
export interface RestoreParts extends CertificateParts {
  readonly configuration: Pick<Configuration, 'current' | 'faultsOfRows'>;
  readonly logger: Logger;
  readonly database: Database;
  readonly policy: PolicyChanges;
  readonly clients: Pick<ClientDirectory, 'put' | 'remove'>;
  readonly clock: Clock;
  /** No session or token that was read is believed in any more. */
  readonly auth: { readonly adminName: string; forgetCallers(): void };
  /** Puts stored rows and lists into force. */
  readonly bringBack: () => Promise<void>;
}

/** What a restore is to do. */
interface Plan {
  readonly changes: readonly KindChange[];
  readonly leftOut: readonly LeftOut[];
}

/** What a restore has done. */
interface Restored extends Plan {
  readonly clients: readonly StoredClient[];
  /** Ids of clients that are gone. */
  readonly goneClients: readonly number[];
}

/** What a restore of the file would change. @throws {ApiError} 400 */
export async function tryRestore(parts: RestoreParts, file: BackupFile): Promise<RestoreAnswer> {
  const plan = await parts.database.transaction(async (tx) => planFor(tx, file, parts));
  return { dry_run: true, revision: null, ...shown(plan) };
}

/** Sets what the file says, and puts it into force. @throws {ApiError} 400, 409 */
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
    const { result, outside } = await refusingConflicts(() => store(tx, plan.changes));
    for (const item of newOnes(plan, 'certificates')) await shareCertificate(parts, tx, item);
    return { result: { ...plan, ...result }, outside, summary: `backup of ${file.created_at}: restored` };
  };
  const { result, revision } = await parts.policy
    .changeWithRevision(author, work, ({ clients, goneClients }) => {
      for (const id of goneClients) parts.clients.remove(id);
      for (const client of clients) parts.clients.put(client);
      return parts.bringBack();
    })
    .finally(() => parts.auth.forgetCallers());
  if (newOnes(result, 'certificates').length > 0) await takeCertificate(parts);
  return { dry_run: false, revision, ...shown(result) };
}

function shown({ changes, leftOut }: Plan): Pick<RestoreAnswer, 'changes' | 'left_out'> {
  return { changes: shownChanges(changes), left_out: shownLeftOut(leftOut) };
}

/** A failure is rare, since the files could be replaced a moment ago, and the next attempt follows. */
async function takeCertificate({ sharedCertificate, logger }: RestoreParts): Promise<void> {
  try {
    await sharedCertificate.take();
  } catch (error) {
    logger.error('could not install the restored certificate; trying again later', {
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
  }
  for (const item of newOnes(plan, 'certificates')) await checkCertificate(parts, item);
  return plan;
}

function newOnes({ changes }: Plan, name: KindName): readonly Item[] {
  return changes.flatMap(({ kind, created, changed }) =>
    kind.name === name ? [...created, ...changed] : [],
  );
}

/** Without grants of clients that neither this node nor the file knows. */
async function withKnownClients(tx: Queryable, wanted: Wanted): Promise<Wanted> {
  const { items, leftOut } = wanted;
  const grants = items.get('grants');
  if (grants === undefined) return wanted;
  const { rows } = await tx.query<{ client: string }>(KNOWN_CLIENTS, [grants.map(({ client }) => client)]);
  const own = (items.get('clients') ?? []).map(
    (item) => item['mac_address'] ?? item['ip_address'] ?? item['client_key'],
  );
  const known = new Set([null, ...rows.map(({ client }) => client), ...own]);
  const kind = KINDS.find(({ name }) => name === 'grants')!;
  const unknown = grants.filter(({ client }) => !known.has(client));
  return {
    items: new Map([...items, ['grants', grants.filter(({ client }) => known.has(client))]]),
    leftOut: [...leftOut, ...unknown.map((item) => ({ kind, item, reason: 'client_not_known' as const }))],
  };
}

async function refusingConflicts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isForeignKeyViolation(error))
      throw conflict('a group that the backup does not have is in use by things that it leaves out');
    if (isUniqueViolation(error))
      throw conflict('two things of the backup cannot be stored under their names');
    throw error;
  }
}

/** Removes, changes and creates, so that nothing is in the way of anything. */
async function store(
  tx: Queryable,
  changes: readonly KindChange[],
): Promise<{ result: Omit<Restored, keyof Plan>; outside: readonly ChangedRow[] }> {
  const run = async (texts: readonly string[], items: readonly Item[]): Promise<void> => {
    if (items.length === 0) return;
    for (const text of texts) await tx.query(text, [JSON.stringify(items)]);
  };
  const ofClients = changes.find(({ kind }) => kind.name === 'clients');
  const touched =
    ofClients === undefined ? [] : [ofClients.created, ofClients.changed, ofClients.removed].flat();
  const before = await clientsOf(tx, touched);
  // Groups last: the others refer to them.
  for (const { kind, removed } of changes.toReversed()) await run(kind.remove, removed);
  const hasFilters = changes.some(({ kind }) => kind.name === 'regex_filters');
  const refusedBefore = hasFilters ? await newlyRefusedFilters(tx, new Set()) : [];
  for (const { kind, created, changed } of changes) {
    const items = [...changed, ...created];
    await run(kind.put, kind.prepare === undefined ? items : await kind.prepare(tx, items));
  }
  if (hasFilters) await refuseNewlyRefused(tx, new Set(refusedBefore.map(({ id }) => id)));
  if (changes.some(({ kind, removed }) => kind.name === 'groups' && removed.length > 0))
    await tx.query(`DELETE FROM groups WHERE name ~ '^removed [0-9a-f-]{36}$' AND id <> 1`);
  const clients = await readClientsById(tx, [
    ...before.map(({ id }) => id),
    ...(await clientsOf(tx, touched)).map(({ id }) => id),
  ]);
  const left = new Map(clients.map((client) => [client.id, client]));
  const goneClients = before.flatMap(({ id }) => (left.has(id) ? [] : [id]));
  const known = new Map(before.map((client) => [client.id, client]));
  const outside = [...new Set([...known.keys(), ...left.keys()])].flatMap((id) =>
    changedRow(known.get(id) ?? null, left.get(id) ?? null),
  );
  return { result: { clients, goneClients }, outside: [...outside, ...changes.flatMap(accessRows)] };
}

/** 400 if a filter cannot be in force that was, or that is new. */
async function refuseNewlyRefused(tx: Queryable, before: ReadonlySet<number>): Promise<void> {
  const [refused] = await newlyRefusedFilters(tx, before);
  if (refused === undefined) return;
  const message = `with the filters that are enabled, \`${refused.pattern}\` cannot be in force: ${refused.reason}`;
  throw invalid([{ path: 'regex_filters', message }]);
}

async function clientsOf(tx: Queryable, items: readonly Item[]): Promise<StoredClient[]> {
  if (items.length === 0) return [];
  const { rows } = await tx.query<{ id: number }>(CLIENT_IDS, [JSON.stringify(items)]);
  return readClientsById(
    tx,
    rows.map(({ id }) => id),
  );
}

/** Kinds whose rows are not in revisions. */
const OUTSIDE: ReadonlySet<KindName> = new Set([
  'users',
  'second_factors',
  'certificates',
  'api_tokens',
  'grants',
  'configuration',
]);

/** Rows outside of revisions for the audit log, which masks their hashes. */
function accessRows({ kind: { name, key }, created, changed, were, removed }: KindChange): ChangedRow[] {
  if (!OUTSIDE.has(name)) return [];
  const row = (before: Item | null, after: Item | null): ChangedRow => ({
    table: name,
    key: key.flatMap((field) => textIn(after ?? before, field)).join(' '),
    before: before && audited(name, before),
    after: after && audited(name, after),
  });
  return [
    ...created.map((item) => row(null, item)),
    ...changed.map((item, index) => row(were[index]!, item)),
    ...removed.map((item) => row(item, null)),
  ];
}

function audited(kind: KindName, item: Item): Item {
  switch (kind) {
    case 'configuration':
      return { key: item['key'], value: hiddenValue(String(item['key']), item['value']) };
    case 'second_factors':
      return { username: item['username'] };
    case 'certificates':
      return { cert: item['cert'] };
    default:
      return item;
  }
}

function textIn(item: Item | null, field: string): string[] {
  const value = item?.[field];
  return typeof value === 'string' ? [value] : [];
}
