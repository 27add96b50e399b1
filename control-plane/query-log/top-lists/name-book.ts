/**
 * Names or clients of several blocks and lists, each with a number. With numbers, a name of a block takes seven bytes,
 * a filter checks each name once for all blocks, and sums are arrays. Keys are never removed; when a book is full, its
 * owner starts another.
 */
import type { BlockNames } from '../block/block-reader.ts';
import { DistinctSketch } from './distinct-sketch.ts';
import { KeyTable } from './key-table.ts';
import type { NameList } from './name-list.ts';

/** The names of a block by their numbers. */
export interface KnownNames {
  /** The table that `places` refer to. */
  readonly book: KeyTable;
  readonly places: Uint32Array;
  readonly counts: Uint16Array;
  /** `NameClass` */
  readonly classes: Uint8Array;
}

/** A list of names or clients by their numbers. */
export interface KnownList {
  readonly book: KeyTable;
  readonly groups: readonly number[];
  /** Upper bound of the count of an absent key in one group. */
  readonly unseen: number;
  readonly sketch: DistinctSketch | null;
  /** Positions by entry. */
  readonly places: Uint32Array;
  /** Positions in `groups`. */
  readonly groupPlaces: Uint16Array;
  readonly resolved: Counts;
  readonly blocked: Counts;
  readonly other: Counts;
}

type Counts = Uint32Array | Float64Array;

/** Bytes per name of a block, and per entry of a list. */
const NAME_BYTES = 7;
const ENTRY_BYTES = 18;
/** Maximum number of keys, including those about to be added. */
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

  /** The names of a block by their numbers; null if they might not fit. */
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

  /** A list by the numbers of its keys; null if they might not fit. */
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
      // A copy, because the list's sketch is a view of all its bytes.
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

/** Stores the counts in four bytes each if that suffices. */
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
