/**
 * Merges objects into the current settings: an existing object takes over the fields of the addition, nothing is
 * deleted. Fields without a value in the addition (null or empty) are not changed. Pure.
 */
import type { BackupItems, KindChange } from './backup-items.ts';
import { inOrder, keyOf } from './backup-items.ts';
import type { BackupKind, Item, KindName } from './backup-kind.ts';
import { KINDS } from './backup-kinds.ts';
import { formatValue } from './format-value.ts';

/** Fields that an existing object takes over from the addition, by kind. */
const TAKEN = {
  groups: ['enabled', 'comment', 'no_ipv6'],
  clients: ['name', 'group', 'exclude_from_log', 'exclude_from_stats'],
  client_subnets: ['group', 'comment'],
  list_sources: ['enabled', 'comment', 'subdomains', 'text', 'groups'],
  managed_domains: ['enabled', 'comment'],
  regex_filters: ['enabled', 'comment'],
  safe_search: ['enabled', 'youtube_mode'],
  schedule_profiles: ['timezone', 'slots'],
  blocked_services: ['profile'],
  local_records: ['ttl', 'comment'],
  forward_zones: ['servers', 'enabled', 'comment'],
  configuration: ['value'],
} as const satisfies Partial<Record<KindName, readonly string[]>>;

/** A kind whose objects can be merged. */
export type MergedKind = keyof typeof TAKEN;

/** The mergeable kinds; a kind comes before the kinds that refer to it. */
export const MERGED_KINDS: readonly (BackupKind & { readonly name: MergedKind })[] = KINDS.filter(
  (kind): kind is BackupKind & { readonly name: MergedKind } => kind.name in TAKEN,
);

/** One object of an addition. */
export interface MergedThing {
  /** The object to be stored. */
  readonly item: Item;
  readonly outcome: 'created' | 'changed' | 'same';
}

/** Result of an addition. */
export interface Merge {
  readonly changes: readonly KindChange[];
  /** The objects of each kind, in the given order. */
  readonly things: ReadonlyMap<MergedKind, readonly MergedThing[]>;
}

/** The changes that add `added` to `current`. */
export function mergeItems(current: BackupItems, added: ReadonlyMap<MergedKind, readonly Item[]>): Merge {
  const groupName = groupNames(current.get('groups') ?? [], added.get('groups') ?? []);
  const changes: KindChange[] = [];
  const things = new Map<MergedKind, readonly MergedThing[]>();
  for (const kind of MERGED_KINDS) {
    const items = (added.get(kind.name) ?? []).map((item) => withGroups(kind.name, item, groupName));
    const { change, merged } = mergeKind(kind, current.get(kind.name) ?? [], items);
    if (change.created.length + change.changed.length > 0) changes.push(change);
    things.set(kind.name, merged);
  }
  return { changes, things };
}

interface Entry {
  readonly was: Item | null;
  now: Item;
}

function mergeKind(
  kind: BackupKind & { readonly name: MergedKind },
  before: readonly Item[],
  added: readonly Item[],
): { change: KindChange; merged: readonly MergedThing[] } {
  const entries = new Map<string, Entry>();
  for (const item of before) {
    const entry = { was: item, now: item };
    for (const key of keysOf(kind, item)) entries.set(key, entry);
  }
  const merged = added.map((item): MergedThing => {
    const [key] = keysOf(kind, item);
    const entry = entries.get(key);
    if (entry === undefined) {
      entries.set(key, { was: null, now: item });
      return { item, outcome: 'created' };
    }
    const now = merging(kind.name, entry.now, item);
    const isSame = formatValue(now) === formatValue(entry.now);
    if (!isSame) entry.now = now;
    return { item: entry.now, outcome: isSame ? 'same' : 'changed' };
  });
  const created: Item[] = [];
  const changed: Item[] = [];
  const were: Item[] = [];
  for (const { was, now } of new Set(entries.values())) {
    if (was === null) created.push(now);
    else if (was !== now) {
      changed.push(now);
      were.push(was);
    }
  }
  return { change: { kind, created, changed, were, removed: [] }, merged };
}

/**
 * The keys by which an existing object is found, the object's own key first: a group by its name, even if it is the
 * default group; a client also by its client key.
 */
function keysOf(kind: BackupKind, item: Item): readonly [string, ...string[]] {
  if (kind.name === 'groups') return [String(item['name']).toLowerCase()];
  const { client_key: key } = item;
  return kind.name === 'clients' && typeof key === 'string'
    ? [keyOf(kind, item), keyOf(kind, { client_key: key })]
    : [keyOf(kind, item)];
}

function merging(kind: MergedKind, before: Item, item: Item): Item {
  const fields: readonly string[] = before['is_default'] === true ? ['no_ipv6'] : TAKEN[kind];
  const given = fields.filter((field) => {
    // Only YouTube has modes.
    if (field === 'youtube_mode' && item['engine'] !== 'youtube') return false;
    // An addition enables these switches and never disables them.
    if (field === 'no_ipv6' || field.startsWith('exclude_')) return item[field] === true;
    return item[field] !== null && item[field] !== '';
  });
  return inOrder({ ...before, ...Object.fromEntries(given.map((field) => [field, item[field]])) });
}

/**
 * Maps groups of an addition to local names: its default group becomes the local default group, even if their
 * names differ.
 */
function groupNames(current: readonly Item[], added: readonly Item[]): (name: unknown) => unknown {
  const folded = ({ name }: Item): string => String(name).toLowerCase();
  const here = new Map(current.map((group) => [folded(group), group['name']]));
  const ofDefault = current.find((group) => group['is_default'] === true)?.['name'];
  const names = new Map(
    added.map((group) => [
      group['name'],
      group['is_default'] === true ? ofDefault : (here.get(folded(group)) ?? group['name']),
    ]),
  );
  return (name) => names.get(name) ?? name;
}

function withGroups(kind: MergedKind, item: Item, groupName: (name: unknown) => unknown): Item {
  if (kind === 'groups') return { ...item, name: groupName(item['name']) };
  const { group, groups } = item;
  const named = typeof group === 'string' ? { ...item, group: groupName(group) } : item;
  return Array.isArray(groups) ? inOrder({ ...named, groups: [...new Set(groups.map(groupName))] }) : named;
}
