/** Subtracts queries that were cleared from the log from the stored top lists that count them. */
import type { Queryable } from '../../storage/db/database.ts';
import type { BlockTally } from './block-tally.ts';
import { KeyTable } from './key-table.ts';
import { DamagedList, encodeList, NameList } from './name-list.ts';
import { type ListKey, type NameLists, readLists, writeLists } from './name-list-store.ts';

/** Counts of queries by name and by client, each with its group. */
export type Tally = Pick<BlockTally, 'names' | 'clients' | 'queries'>;

/** The list of names and the list of clients of one span, decoded. */
export interface OpenLists extends Tally {
  readonly groups: ReadonlySet<number>;
}

/**
 * Subtracts queries from the lists of a span. The caller must hold the lock for the lists of the node. Lists that no
 * longer exist or are damaged are skipped.
 */
export async function subtractFromLists(tx: Queryable, key: ListKey, gone: Tally): Promise<void> {
  const lists = openLists(await readLists(tx, key));
  if (lists === null) return;
  const { names, clients, groups } = lists;
  names.subtractTable(gone.names);
  clients.subtractTable(gone.clients);
  const left = {
    queries: Math.max(0, lists.queries - gone.queries),
    names: await encodeList(names, groups),
    clients: await encodeList(clients, groups),
  };
  await writeLists(tx, key, left, { names: figuresOf(names), clients: figuresOf(clients) });
}

/** The lists as tables; null if there are no lists or they cannot be read. */
export function openLists(stored: NameLists | null): OpenLists | null {
  if (stored === null) return null;
  const groups = new Set<number>();
  const open = (list: NameLists['names']): KeyTable => {
    const table = new KeyTable();
    const read = new NameList(list);
    for (const group of read.groups) groups.add(group);
    read.addTo(table);
    return table;
  };
  try {
    return { queries: stored.queries, names: open(stored.names), clients: open(stored.clients), groups };
  } catch (error) {
    if (error instanceof DamagedList) return null;
    throw error;
  }
}

function figuresOf({ size, unseen }: KeyTable): { entries: number; unseen: number } {
  return { entries: size, unseen };
}
