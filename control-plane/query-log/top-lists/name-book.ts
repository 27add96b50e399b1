/**
 * A book: a table of the names or clients of several blocks and top lists, in which each has an index. With the index,
 * a name of a block needs only seven bytes, a filter checks each name once for all blocks, and sums are arrays. Keys
 * are never removed; when a book is full, its owner creates another one.
 */
import type { BlockNames } from '../block/block-reader.ts';
import { DistinctSketch } from './distinct-sketch.ts';
import { KeyTable } from './key-table.ts';
import type { NameList } from './name-list.ts';

/** The names of a block as indexes into a book. */
export interface KnownNames {
  /** The table into which `places` are indexes. */
  readonly book: KeyTable;
  readonly places: Uint32Array;
  readonly counts: Uint16Array;
  /** `NameClass` of each name. */
  readonly classes: Uint8Array;
}

/** A top list whose names or clients are indexes into a book. */
export interface KnownList {
  readonly book: KeyTable;
  readonly groups: readonly number[];
  /** Maximum count that an absent key may have had in one group. */
  readonly unseen: number;
  readonly sketch: DistinctSketch | null;
  /** Index in the book, by entry. */
  readonly places: Uint32Array;
  /** Index in `groups`, by entry. */
  readonly groupPlaces: Uint16Array;
  readonly resolved: Counts;
  readonly blocked: Counts;
  readonly other: Counts;
}

type Counts = Uint32Array | Float64Array;

/** Size in bytes of a name of a block, and of an entry of a list. */
const NAME_BYTES = 7;
const ENTRY_BYTES = 18;
/** Maximum number of keys, including the keys that are about to be added. */
const MAX_KEYS = 131_072;
const MAX_TEXT_BYTES = 8 * 1024 * 1024;

/** The keys, up to a limit. */
export class NameBook {
  private readonly table: KeyTable;
  private readonly maxKeys: number;

  constructor(maxKeys = MAX_KEYS) {
    this.maxKeys = maxKeys;
    this.table = new KeyTable(maxKeys);
  }

  /** Converts the names of a block to indexes, adding missing names; null if they might not fit in the book. */
  takeNames({ texts, starts, counts, classes }: Omit<BlockNames, 'rules' | 'offsets'>): KnownNames | null {
    const { table } = this;
    const count = starts.length - 1;
    if (!this.hasRoom(count, texts.length)) return null;
    const places = new Uint32Array(count);
    for (let name = 0; name < count; name++) {
      const start = starts[name]!;
      places[name] = table.place(texts, start, starts[name + 1]! - 1 - start, 0);
    }
    return { book: table, places, counts: Uint16Array.from(counts), classes: Uint8Array.from(classes) };
  }

  /** Converts the keys of a top list to indexes, adding missing keys; null if they might not fit in the book. */
  takeList(list: NameList): KnownList | null {
    const { table } = this;
    if (!this.hasRoom(list.size, list.textBytes)) return null;
    const places = new Uint32Array(list.size);
    list.forEachText((entry, texts, start, length) => {
      places[entry] = table.place(texts, start, length, 0);
    });
    const { groups, unseen, sketch, places: groupPlaces } = list;
    const [resolved, blocked, other] = list.counts.map(compact);
    return {
      book: table,
      groups,
      unseen,
      places,
      groupPlaces: Uint16Array.from(groupPlaces),
      // The sketch is copied, because it is a view of the whole memory of the list.
      sketch: sketch === null ? null : new DistinctSketch(sketch.registers.slice()),
      resolved: resolved!,
      blocked: blocked!,
      other: other!,
    };
  }

  private hasRoom(keys: number, textBytes: number): boolean {
    const { size, starts } = this.table;
    return size + keys <= this.maxKeys && starts[size]! + textBytes <= MAX_TEXT_BYTES;
  }
}

/** Stores each count in four bytes if all counts fit. */
function compact(counts: Float64Array): Counts {
  return counts.every((count) => count <= 0xffff_ffff) ? Uint32Array.from(counts) : counts;
}

/** Size of names in bytes. */
export function bytesOfNames({ places }: KnownNames): number {
  return places.length * NAME_BYTES;
}

/** Size of a list in bytes. */
export function bytesOfList({ places }: KnownList): number {
  return places.length * ENTRY_BYTES;
}
