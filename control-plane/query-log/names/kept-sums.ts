/**
 * Sums that are kept between questions: what has come since is added, what has gone is taken away again. Each part, such
 * as a block or a list, has a key; the parts that are in the sums are known at all times.
 */
import { CountArrays } from './count-arrays.ts';
import { DistinctSketch } from './distinct-sketch.ts';
import type { SummedKeys } from './key-sums.ts';
import type { KeyTable } from './key-table.ts';
import type { KnownList, KnownNames } from './name-book.ts';

/** What a part adds to sums: names with so many queries each, or counts. */
export type Addend =
  | { readonly names: Omit<KnownNames, 'counts'>; readonly queries: ArrayLike<number> }
  | { readonly list: KnownList };

/** Finds what a part has added; undefined if that is not known any more. */
export type FindAddend = () => Addend | undefined;

interface Part {
  readonly find: FindAddend;
  readonly sketch: DistinctSketch | null;
}

/** The sums of one period, by name or by client. */
export class KeptSums {
  private readonly parts = new Map<string, Part>();
  private arrays: CountArrays | undefined;
  private unseen = 0;
  /** `sketch()`, while nothing is taken away. */
  private joined: DistinctSketch | null = null;

  has(key: string): boolean {
    return this.parts.has(key);
  }

  /** Takes away all parts but these; where it takes less time or a part is not known any more, takes away all. */
  keepOnly(wanted: { has(key: string): boolean }, book: KeyTable): void {
    if (this.arrays?.book !== book) return this.clear(book);
    const gone = [...this.parts].filter(([key]) => !wanted.has(key));
    if (gone.length === 0) return;
    const addends = gone.map(([, { find }]) => find());
    const isEasy = gone.length <= this.parts.size / 2;
    if (!isEasy || addends.some((addend) => addend === undefined || bookOf(addend) !== book))
      return this.clear(book);
    gone.forEach(([key], at) => {
      this.count(addends[at]!, -1);
      this.parts.delete(key);
    });
  }

  /** Adds a part; false if its keys are of another book. `find` gives the same addend again. */
  add(key: string, addend: Addend, find: FindAddend): boolean {
    if (this.arrays?.book !== bookOf(addend)) return false;
    this.count(addend, 1);
    this.parts.set(key, { find, sketch: 'list' in addend ? addend.list.sketch : null });
    return true;
  }

  /** All of it; valid until something is added or taken away. */
  keys(book: KeyTable): SummedKeys {
    const arrays = (this.arrays ??= new CountArrays(book));
    arrays.makeRoom();
    const { resolved, blocked, other } = arrays;
    const { size, bytes, starts } = arrays.book;
    return {
      size,
      bytes,
      starts,
      resolved,
      blocked,
      other,
      unseen: this.unseen,
      sketch: this.sketch(arrays),
    };
  }

  /** All keys there have been, once a list has dropped some; null: they are all here. */
  private sketch(arrays: CountArrays): DistinctSketch | null {
    const sketches: DistinctSketch[] = [];
    for (const { sketch } of this.parts.values()) if (sketch !== null) sketches.push(sketch);
    if (sketches.length === 0 || this.joined !== null) return this.joined;
    const joined = new DistinctSketch();
    for (const sketch of sketches) joined.join(sketch);
    arrays.forEach((start, length) => joined.add(arrays.book.bytes, start, length));
    return (this.joined = joined);
  }

  private count(addend: Addend, sign: 1 | -1): void {
    // Nothing can be taken from a sketch.
    if (sign === -1) this.joined = null;
    else if (this.joined !== null) addKeys(this.joined, addend);
    if ('names' in addend) return this.arrays!.addNames(addend.names, addend.queries, sign);
    const { list } = addend;
    this.arrays!.addList(list, null, sign);
    this.unseen += sign * list.unseen * list.groups.length;
  }

  private clear(book: KeyTable): void {
    this.parts.clear();
    this.unseen = 0;
    this.joined = null;
    if (this.arrays?.book === book) this.arrays.clear();
    else this.arrays = new CountArrays(book);
  }
}

/** Adds the keys of a part that have queries to a sketch, and those that it has dropped. */
function addKeys(sketch: DistinctSketch, addend: Addend): void {
  const { book, places } = 'names' in addend ? addend.names : addend.list;
  const counts =
    'names' in addend ? [addend.queries] : [addend.list.resolved, addend.list.blocked, addend.list.other];
  for (let at = 0; at < places.length; at++) {
    if (!counts.some((queries) => queries[at]! > 0)) continue;
    const start = book.starts[places[at]!]!;
    sketch.add(book.bytes, start, book.starts[places[at]! + 1]! - start);
  }
  if ('list' in addend && addend.list.sketch !== null) sketch.join(addend.list.sketch);
}

function bookOf(addend: Addend): KeyTable {
  return 'names' in addend ? addend.names.book : addend.list.book;
}
