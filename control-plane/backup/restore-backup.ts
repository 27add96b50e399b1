/** Puts a backup into force: one transaction, which is one revision. */
import type { BackupFile, RestoreAnswer } from '../../shared/api/policy/backup-api.ts';
import { conflict, invalid } from '../api/api-error.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Author } from '../api/caller.ts';
import type { ClientDirectory } from '../clients/client-directory.ts';
import type { StoredClient } from '../clients/client-record.ts';
import { changedRow } from '../clients/client-change.ts';
import { readClientsById } from '../clients/client-store.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../db/database-errors.ts';
import type { Database, Queryable } from '../db/database.ts';
import { refuseOtherFolders } from '../lists/sources/list-folder.ts';
import type { Changed, ChangedRow, PolicyChanges } from '../policy/change.ts';
import { newlyRefusedFilters } from '../rules/filter-budget.ts';
import { readBackupFile, type Wanted } from './backup-file.ts';
import { diffItems, readItems, shownChanges, shownLeftOut } from './backup-items.ts';
import type { KindChange, LeftOut } from './backup-items.ts';
import { KNOWN_CLIENTS } from './access-kinds.ts';
import { CLIENT_IDS, KINDS } from './backup-kinds.ts';
import type { Item } from './backup-kind.ts';

/** Parts of a restore. */
export interface RestoreParts {
  readonly database: Database;
  readonly policy: PolicyChanges;
  readonly clients: Pick<ClientDirectory, 'put' | 'remove'>;
  readonly clock: Clock;
  /** No session or token that was read is believed in any more. */
  readonly auth: { forgetCallers(): void };
  /** Puts stored rows and lists into force. */
  readonly bringBack: () => Promise<void>;
  /** `blocking.list_dirs`. */
  readonly listDirs: () => readonly string[];
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
export async function tryRestore(
  { database, clock }: RestoreParts,
  file: BackupFile,
): Promise<RestoreAnswer> {
  const plan = await database.transaction(async (tx) => planFor(tx, file, clock));
  return { dry_run: true, revision: null, ...shown(plan) };
}

/** Sets what the file says, and puts it into force. @throws {ApiError} 400, 409 */
export async function restoreBackup(
  parts: RestoreParts,
  file: BackupFile,
  author: Author,
): Promise<RestoreAnswer> {
  for (const [index, { url }] of (file.list_sources ?? []).entries())
    await refuseOtherFolders(url, parts.listDirs(), `list_sources.${index}.url`);
  const work = async (tx: Queryable): Promise<Changed<Restored>> => {
    const plan = await planFor(tx, file, parts.clock);
    const { result, outside } = await refusingConflicts(() => store(tx, plan.changes));
    return { result: { ...plan, ...result }, outside, summary: `backup of ${file.created_at}: restored` };
  };
  const { result, revision } = await parts.policy
    .changeWithRevision(author, work, ({ clients, goneClients }) => {
      for (const id of goneClients) parts.clients.remove(id);
      for (const client of clients) parts.clients.put(client);
      return parts.bringBack();
    })
    .finally(() => parts.auth.forgetCallers());
  return { dry_run: false, revision, ...shown(result) };
}

function shown({ changes, leftOut }: Plan): Pick<RestoreAnswer, 'changes' | 'left_out'> {
  return { changes: shownChanges(changes), left_out: shownLeftOut(leftOut) };
}

async function planFor(tx: Queryable, file: BackupFile, clock: Clock): Promise<Plan> {
  const now = new Date(clock.nowMs());
  const current = await readItems(tx, now);
  const { items, leftOut } = await withKnownClients(tx, readBackupFile(file, current, now));
  return { changes: diffItems(current, items), leftOut };
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

/** Users and tokens for the audit log, which masks their hashes. */
function accessRows({ kind: { name, key }, created, changed, were, removed }: KindChange): ChangedRow[] {
  if (name !== 'users' && name !== 'api_tokens' && name !== 'grants') return [];
  const row = (before: Item | null, after: Item | null): ChangedRow => ({
    table: name,
    key: key.flatMap((field) => textIn(after ?? before, field)).join(' '),
    before,
    after,
  });
  return [
    ...created.map((item) => row(null, item)),
    ...changed.map((item, index) => row(were[index]!, item)),
    ...removed.map((item) => row(item, null)),
  ];
}

function textIn(item: Item | null, field: string): string[] {
  const value = item?.[field];
  return typeof value === 'string' ? [value] : [];
}
