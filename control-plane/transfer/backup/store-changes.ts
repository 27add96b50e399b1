/** Stores the changes of a restore or an import, in the transaction of the caller. */
import type { ChangedClients } from '../../clients/devices/client-record.ts';
import { changedClients } from '../../clients/devices/client-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { ChangedRow } from '../../policy/change/change.ts';
import { newlyRefusedFilters } from '../../filtering/rules/filter-budget.ts';
import type { RefusedFilter } from '../../policy/snapshot/build/manual-rules.ts';
import { isPolicyKey } from '../../policy/settings/config-store.ts';
import type { KindChange } from './backup-items.ts';
import type { Item, KindName } from './backup-kind.ts';
import { hiddenValue } from './configuration-items.ts';

/** The stored changes, for steps after the transaction. */
export interface StoredChanges extends ChangedClients {
  /** Rows that are not in revisions, for the audit log. */
  readonly outside: readonly ChangedRow[];
}

/**
 * Deletes, changes and creates objects in an order without conflicts. `onRefused` receives the regex filters that no
 * longer fit into their shared budget, but did before.
 */
export async function storeChanges(
  tx: Queryable,
  changes: readonly KindChange[],
  onRefused: (refused: readonly [RefusedFilter, ...RefusedFilter[]]) => Promise<void> | never,
): Promise<StoredChanges> {
  const run = async (texts: readonly string[], items: readonly Item[]): Promise<void> => {
    if (items.length === 0) return;
    for (const text of texts) await tx.query(text, [JSON.stringify(items)]);
  };
  // Removes groups last, because the other kinds refer to them.
  for (const { kind, removed } of changes.toReversed()) await run(kind.remove, removed);
  const hasFilters = changes.some(({ kind }) => kind.name === 'regex_filters');
  const refusedBefore = hasFilters ? await newlyRefusedFilters(tx, new Set()) : [];
  for (const { kind, created, changed } of changes) {
    const items = [...changed, ...created];
    await run(kind.put, kind.prepare === undefined ? items : await kind.prepare(tx, items));
  }
  if (hasFilters) {
    const [first, ...others] = await newlyRefusedFilters(tx, new Set(refusedBefore.map(({ id }) => id)));
    if (first !== undefined) await onRefused([first, ...others]);
  }
  if (changes.some(({ kind, removed }) => kind.name === 'groups' && removed.length > 0))
    await tx.query(`DELETE FROM groups WHERE name ~ '^removed [0-9a-f-]{36}$' AND id <> 1`);
  return { ...(await changedClients(tx)), outside: changes.flatMap(accessRows) };
}

/** Kinds whose rows are not in revisions; for the configuration, the keys that do not affect decisions about names. */
const OUTSIDE: ReadonlySet<KindName> = new Set([
  'users',
  'user_clients',
  'second_factors',
  'certificates',
  'api_tokens',
  'grants',
  'configuration',
]);

/** Rows outside of revisions for the audit log, which masks their hashes. */
function accessRows({ kind: { name, key }, created, changed, were, removed }: KindChange): ChangedRow[] {
  if (!OUTSIDE.has(name)) return [];
  const isOutside = (item: Item): boolean => name !== 'configuration' || !isPolicyKey(String(item['key']));
  const row = (before: Item | null, after: Item | null): ChangedRow => ({
    table: name,
    key: key.flatMap((field) => textIn(after ?? before, field)).join(' '),
    before: before && audited(name, before),
    after: after && audited(name, after),
  });
  return [
    ...created.filter(isOutside).map((item) => row(null, item)),
    ...changed.flatMap((item, index) => (isOutside(item) ? [row(were[index]!, item)] : [])),
    ...removed.filter(isOutside).map((item) => row(item, null)),
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
