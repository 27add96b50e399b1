/**
 * Local records as a tree of names. The tree shows which names exist, because they have records or because there are
 * names below them, and which of these names a query matches. A wildcard covers every name below its parent that has
 * neither its own record nor a closer wildcard. This differs from RFC 4592, by which a record for nas.lan.home.example
 * would exclude lan.home.example from *.home.example, so that Weir would forward queries for lan.home.example. Pure;
 * `local-names-builder.ts` writes the tree for the threads.
 */
import type { LocalRecord } from './snapshot-records.ts';

/** A name in the tree. */
export interface LocalNode {
  readonly name: string;
  /** Record sets by type, in the order in which they were added; a name without any is an empty non-terminal. */
  readonly sets: Map<LocalRecord['type'], LocalRecord[]>;
  /** Whether the name exists without records. */
  isEmpty: boolean;
}

/** Names by their text. */
export type LocalTree = ReadonlyMap<string, LocalNode>;

/** Builds the tree. If a name has a CNAME and other records, only the kind that comes first in `records` is used. */
export function buildLocalTree(records: readonly LocalRecord[]): LocalTree {
  const tree = new Map<string, LocalNode>();
  const at = (name: string): LocalNode => {
    const node = tree.get(name) ?? { name, sets: new Map(), isEmpty: false };
    tree.set(name, node);
    return node;
  };
  for (const record of records) {
    const node = at(record.fqdn);
    if (!fits(node, record)) continue;
    const set = node.sets.get(record.type);
    if (set === undefined) node.sets.set(record.type, [record]);
    else if (!set.some(({ value }) => value === record.value)) set.push(record);
    for (const parent of parentsOf(record.fqdn)) at(parent).isEmpty ||= isBelow(parent, record.domain);
  }
  return tree;
}

function fits(node: LocalNode, { type, value }: LocalRecord): boolean {
  if (node.sets.size === 0) return true;
  const alias = node.sets.get('CNAME');
  if (alias !== undefined) return type === 'CNAME' && alias[0]!.value === value;
  return type !== 'CNAME';
}

/** The node that a query for `name` matches, if forward zones are ignored; undefined if the name is not local. */
export function findInTree(tree: LocalTree, name: string): LocalNode | undefined {
  const own = tree.get(name);
  if (own !== undefined && own.sets.size > 0) return own;
  const empty = own?.isEmpty === true ? own : undefined;
  if (name.startsWith('_')) return empty;
  const covering = parentsOf(name).find((parent) => tree.has(`*.${parent}`));
  return covering === undefined ? empty : tree.get(`*.${covering}`);
}

/**
 * The node of the local name to which the CNAME of a node refers; undefined if there is no CNAME or its target is not
 * local.
 */
export function targetInTree(tree: LocalTree, node: LocalNode): LocalNode | undefined {
  const alias = node.sets.get('CNAME')?.[0];
  return alias && findInTree(tree, alias.value);
}

/** A name whose CNAME leads back to the name through local names; undefined if there is no such loop. */
export function findAliasLoop(tree: LocalTree): string | undefined {
  const ends = new Set<LocalNode>();
  for (const start of tree.values()) {
    const path = new Set<LocalNode>();
    let node: LocalNode | undefined = start;
    while (node !== undefined && !ends.has(node)) {
      if (path.has(node)) return node.name;
      path.add(node);
      node = targetInTree(tree, node);
    }
    for (const passed of path) ends.add(passed);
  }
  return undefined;
}

/** All parent names, closest first, without the root. */
export function parentsOf(name: string): string[] {
  const parents: string[] = [];
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
    parents.push(name.slice(dot + 1));
  return parents;
}

function isBelow(name: string, domain: string): boolean {
  return domain !== '' && name.endsWith(`.${domain}`);
}
