/** Reads the contents of a backup from the database, and compares two states. */
import type { RestoreAnswer } from '../../../shared/api/policy/backup-api.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { rightsOf } from './access-kinds.ts';
import { KINDS } from './backup-kinds.ts';
import type { BackupKind, Item, KindName } from './backup-kind.ts';
import { describeValue } from './configuration-items.ts';
import { formatValue } from './format-value.ts';

/** Objects by kind; a restore does not change kinds that are absent. */
export type BackupItems = ReadonlyMap<KindName, readonly Item[]>;

/** Changes of a restore to one kind. */
export interface KindChange {
  readonly kind: BackupKind;
  readonly created: readonly Item[];
  readonly changed: readonly Item[];
  /** Changed objects in their current state. */
  readonly were: readonly Item[];
  /** Removed objects in their current state. */
  readonly removed: readonly Item[];
}

/** An object in a file that is not restored. */
export interface LeftOut {
  readonly kind: BackupKind;
  readonly item: Item;
  readonly reason: RestoreAnswer['left_out'][number]['reason'];
}

/** Maximum number of names that are listed for a change. */
const MAX_NAMES = 1000;

/**
 * All current objects; `outside` contains those that are not in the database. Call it in a transaction, so that the
 * result is consistent.
 */
export async function readItems(
  tx: Queryable,
  now: Date,
  outside: ReadonlyMap<KindName, readonly Item[]>,
): Promise<BackupItems> {
  return new Map([...(await readKinds(tx, KINDS, now)), ...outside]);
}

/** All current objects of some kinds; kinds with an expiry need the time. */
export async function readKinds(
  tx: Queryable,
  kinds: readonly BackupKind[],
  now: Date | null,
): Promise<BackupItems> {
  const found = new Map<KindName, readonly Item[]>();
  for (const { name, read, isTimed = false, complete } of kinds) {
    const { rows } = await tx.query<Item>(read, isTimed ? [now] : []);
    found.set(name, (complete === undefined ? rows : await complete(tx, rows)).map(inOrder));
  }
  return found;
}

/** Sorts the groups of a source, because their order has no meaning. */
export function inOrder(item: Item): Item {
  const { groups } = item;
  return Array.isArray(groups) ? { ...item, groups: (groups as string[]).toSorted() } : item;
}

/** The key that identifies an object among those of its kind. */
export function keyOf(
  { name, key, isFolded = false, isKnownByFirst = false }: BackupKind,
  item: Item,
): string {
  // There is only one default group, regardless of its name.
  if (name === 'groups' && item['is_default'] === true) return '';
  const values = key.map((field) => item[field] ?? null);
  const first = values.findIndex((value) => value !== null);
  const text = JSON.stringify(isKnownByFirst ? [first, values[first]] : values);
  return isFolded ? text.toLowerCase() : text;
}

/** The changes from `current` to `wanted`. */
export function diffItems(current: BackupItems, wanted: BackupItems): KindChange[] {
  return KINDS.flatMap((kind) => {
    const items = wanted.get(kind.name);
    if (items === undefined) return [];
    const before = new Map((current.get(kind.name) ?? []).map((item) => [keyOf(kind, item), item]));
    const created: Item[] = [];
    const changed: Item[] = [];
    const were: Item[] = [];
    for (const item of items) {
      const key = keyOf(kind, item);
      const was = before.get(key);
      before.delete(key);
      if (was === undefined) created.push(item);
      else if (formatValue(was) !== formatValue(item)) {
        changed.push(item);
        were.push(was);
      }
    }
    const removed = [...before.values()];
    return created.length + changed.length + removed.length === 0
      ? []
      : [{ kind, created, changed, were, removed }];
  });
}

/** The changes in the form of the API. */
export function toApiChanges(changes: readonly KindChange[]): RestoreAnswer['changes'] {
  return changes.map(({ kind, created, changed, were, removed }) => ({
    kind: kind.name,
    created: namesOf(kind, created),
    changed: namesOf(kind, changed, were),
    removed: namesOf(kind, removed),
  }));
}

/** All objects that are left out, for users: at most a few thousand, given the size of a file. */
export function toApiLeftOut(leftOut: readonly LeftOut[]): RestoreAnswer['left_out'] {
  return leftOut.map(({ kind, item, reason }) => ({
    kind: kind.name,
    name: nameOf(kind, item, undefined),
    reason,
  }));
}

function namesOf(
  kind: BackupKind,
  items: readonly Item[],
  were: readonly Item[] = [],
): { count: number; names: string[] } {
  const shown = items.slice(0, MAX_NAMES).map((item, index) => nameOf(kind, item, were[index]));
  return { count: items.length, names: shown };
}

function nameOf({ name, key }: BackupKind, item: Item, was: Item | undefined): string {
  if (name === 'users' || name === 'api_tokens') {
    const rights = rightsOf(item, was);
    const own = String(item[name === 'users' ? 'username' : 'name']);
    return rights === '' ? own : `${own} (${rights})`;
  }
  if (name === 'configuration') return describeValue(item, was);
  if (name === 'certificates') return 'web';
  // URLs may contain credentials.
  const fields = name === 'list_sources' ? ['name'] : key;
  const parts = fields.flatMap((field) => (typeof item[field] === 'string' ? [item[field]] : []));
  if (name === 'clients' && typeof item['name'] === 'string' && item['name'] !== '')
    return `${item['name']} (${parts.join(' ')})`;
  return parts.length === 0 ? name : parts.join(' ');
}
