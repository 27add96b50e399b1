/** Writes the tree of local names in the form that threads read, see `LocalNamesLayout`. Pure. */
import { hashName, MAX_NAME_LENGTH, nameFromText } from '../../../../shared/dns/name.ts';
import { localTypeCode } from '../../../../shared/policy/local-record.ts';
import {
  LAYOUT_VERSION,
  LOCAL_NAMES_MAGIC,
  LocalNamesLayout as L,
  LocalNodeFlag,
} from '../../../../shared/snapshot/layout.ts';
import { LocalSource } from '../../../../shared/snapshot/local-name-table.ts';
import type { LocalRecord } from './snapshot-records.ts';
import { type LocalNode, type LocalTree, targetInTree } from './local-tree.ts';

/** Word offsets of all parts of a tree. */
interface Plan {
  readonly nodes: Map<LocalNode, { readonly at: number; readonly wire: Uint8Array }>;
  slots: number;
  words: number;
}

const wordsFor = (bytes: number): number => (bytes + 3) >>> 2;

/** Builds the table; names are hashed with the seeds of the rule table, like the names of queries. */
export function buildLocalNames(
  tree: LocalTree,
  seeds: { readonly low: number; readonly high: number },
): SharedArrayBuffer {
  const plan = planTable(tree);
  const buffer = new SharedArrayBuffer(plan.words * 4);
  const words = new Int32Array(buffer);
  const bytes = new Uint8Array(buffer);
  words[L.MAGIC_WORD] = LOCAL_NAMES_MAGIC;
  words[L.VERSION_WORD] = LAYOUT_VERSION;
  words[L.SLOT_MASK_WORD] = plan.slots - 1;
  words[L.NODE_COUNT_WORD] = plan.nodes.size;
  const hash = { low: 0, high: 0 };
  for (const [node, { at, wire }] of plan.nodes) {
    hashName(wire, 0, seeds.low, seeds.high, hash);
    enter(words, plan.slots, hash.low, at);
    words[at + L.NODE_HIGH] = hash.high;
    words[at + L.NODE_NAME_BYTES] = wire.length;
    words[at + L.NODE_FLAGS] = node.isEmpty ? LocalNodeFlag.EMPTY : 0;
    words[at + L.NODE_SET_COUNT] = node.sets.size;
    const wildcard = plan.nodes.get(tree.get(`*.${node.name}`)!);
    words[at + L.NODE_WILDCARD] = wildcard?.at ?? 0;
    if (wildcard !== undefined) words[L.HAS_WILDCARDS_WORD] = 1;
    const labels = node.name.split('.').length;
    if (labels > words[L.MAX_LABELS_WORD]!) words[L.MAX_LABELS_WORD] = labels;
    bytes.set(wire, (at + L.NODE_SETS + node.sets.size) * 4);
    const target = plan.nodes.get(targetInTree(tree, node)!)?.at ?? 0;
    writeSets(words, bytes, at, [...node.sets.values()], target);
  }
  return buffer;
}

/** Computes the offsets. Names that are too long for the wire form are omitted. */
function planTable(tree: LocalTree): Plan {
  const named: [LocalNode, Uint8Array][] = [];
  for (const node of tree.values()) {
    const wire = nameFromText(node.name);
    if (wire !== null && wire.length <= MAX_NAME_LENGTH) named.push([node, wire]);
  }
  let slots = 1;
  while (slots < named.length * 2) slots *= 2;
  const plan: Plan = { nodes: new Map(), slots, words: L.HEADER_WORDS + slots * L.SLOT_WORDS };
  for (const [node, wire] of named) {
    plan.nodes.set(node, { at: plan.words, wire });
    plan.words += L.NODE_SETS + node.sets.size + wordsFor(wire.length);
    for (const set of node.sets.values()) {
      plan.words += L.SET_RECORDS + set.length;
      for (const { rdata } of set) plan.words += 1 + wordsFor(rdata.length);
    }
  }
  return plan;
}

/** Adds a node to the hash table, which never becomes full: there are twice as many slots as names. */
function enter(words: Int32Array, slots: number, low: number, node: number): void {
  let slot = low & (slots - 1);
  while (words[L.HEADER_WORDS + slot * L.SLOT_WORDS + 1] !== 0) slot = (slot + 1) & (slots - 1);
  words[L.HEADER_WORDS + slot * L.SLOT_WORDS] = low;
  words[L.HEADER_WORDS + slot * L.SLOT_WORDS + 1] = node;
}

/** Writes the record sets of the node at offset `node`, after its name. */
function writeSets(
  words: Int32Array,
  bytes: Uint8Array,
  node: number,
  sets: readonly (readonly LocalRecord[])[],
  target: number,
): void {
  let at = node + L.NODE_SETS + sets.length + wordsFor(words[node + L.NODE_NAME_BYTES]!);
  for (const [index, records] of sets.entries()) {
    const [first] = records as readonly [LocalRecord];
    words[node + L.NODE_SETS + index] = at;
    words[at + L.SET_TYPE] = localTypeCode(first.type);
    words[at + L.SET_TTL_SECS] = Math.min(...records.map(({ ttlSecs }) => ttlSecs));
    words[at + L.SET_INDEX] = words[L.SET_COUNT_WORD]!;
    words[L.SET_COUNT_WORD] = words[L.SET_COUNT_WORD]! + 1;
    words[at + L.SET_SOURCE] = LocalSource[first.source];
    words[at + L.SET_RECORD_ID] = first.id;
    words[at + L.SET_TARGET] = first.type === 'CNAME' ? target : 0;
    words[at + L.SET_COUNT] = records.length;
    words[at + L.SET_NODE] = node;
    let record = at + L.SET_RECORDS + records.length;
    for (const [place, { rdata }] of records.entries()) {
      words[at + L.SET_RECORDS + place] = record;
      words[record] = rdata.length;
      bytes.set(rdata, (record + 1) * 4);
      record += 1 + wordsFor(rdata.length);
    }
    at = record;
  }
}
