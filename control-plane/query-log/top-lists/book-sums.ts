/**
 * Sums by key (name or client). Keys that are in one book (`name-book.ts`) are summed in arrays, which is fast; all
 * other keys are summed in a table.
 */
import { NameClass } from '../block/block-layout.ts';
import { CountArrays } from './count-arrays.ts';
import { DistinctSketch } from './distinct-sketch.ts';
import type { SummedKeys } from './key-sums.ts';
import { KeyTable } from './key-table.ts';
import type { KnownList, KnownNames } from './name-book.ts';

/** The sums of one request. */
export class BookSums {
  /** Sums of keys that are not in the book; all tags are 0. */
  readonly table = new KeyTable();
  /** Sums of keys in the first book that was used. */
  private arrays: CountArrays | undefined;
  private unseen = 0;
  private sketch: DistinctSketch | null = null;

  /** Adds names of a block with their numbers of queries. */
  addNames(names: KnownNames, queries: ArrayLike<number>): void {
    const arrays = this.arraysOf(names.book);
    if (arrays === null) this.addForeignNames(names, queries);
    else arrays.addNames(names, queries);
  }

  /** Adds one query for the name of each of these rows. */
  addQueries(names: KnownNames, nameOf: Uint16Array, rows: readonly number[]): void {
    const arrays = this.arraysOf(names.book);
    if (arrays !== null) return arrays.addQueries(names, nameOf, rows);
    const queries = new Uint32Array(names.places.length);
    for (const row of rows) queries[nameOf[row]!]!++;
    this.addForeignNames(names, queries);
  }

  /** Adds the counts of a top list, or only the counts of one group in the list. */
  addList(list: KnownList, group: number | undefined): void {
    const wanted = group === undefined ? null : list.groups.indexOf(group);
    const unseen = list.unseen * (wanted === null ? list.groups.length : wanted < 0 ? 0 : 1);
    const arrays = this.arraysOf(list.book);
    if (arrays === null) return this.addForeignList(list, wanted, unseen);
    arrays.addList(list, wanted);
    this.unseen += unseen;
    if (list.sketch !== null) (this.sketch ??= new DistinctSketch()).join(list.sketch);
  }

  /** All sums; valid until more counts are added. */
  keys(): SummedKeys {
    const { table, arrays, unseen, sketch } = this;
    if (arrays === undefined) return table;
    if (table.size > 0 || table.unseen > 0 || table.sketch !== null) return this.inTable(arrays);
    arrays.makeRoom(); // Another request may have added keys to the book.
    const { book, resolved, blocked, other } = arrays;
    const { size, bytes, starts } = book;
    if (sketch !== null) arrays.forEach((start, length) => sketch.add(bytes, start, length));
    return { size, bytes, starts, resolved, blocked, other, unseen, sketch };
  }

  private inTable(arrays: CountArrays): KeyTable {
    const { table } = this;
    table.addUnseen(this.unseen, this.sketch);
    arrays.forEach((start, length, from) => {
      const place = table.place(arrays.book.bytes, start, length, 0);
      table.resolved[place]! += arrays.resolved[from]!;
      table.blocked[place]! += arrays.blocked[from]!;
      table.other[place]! += arrays.other[from]!;
    });
    return table;
  }

  /** Adds names from another book: the first one became full during the request. */
  private addForeignNames({ book, places, classes }: KnownNames, queries: ArrayLike<number>): void {
    const { table } = this;
    for (let name = 0; name < places.length; name++) {
      if (queries[name] === 0) continue;
      const place = placeIn(table, book, places[name]!);
      if (classes[name] === NameClass.RESOLVED) table.resolved[place]! += queries[name]!;
      else if (classes[name] === NameClass.BLOCKED) table.blocked[place]! += queries[name]!;
      else table.other[place]! += queries[name]!;
    }
  }

  private addForeignList(list: KnownList, wanted: number | null, unseen: number): void {
    const { table } = this;
    table.addUnseen(unseen, list.sketch);
    for (let entry = 0; entry < list.places.length; entry++) {
      if (wanted !== null && list.groupPlaces[entry] !== wanted) continue;
      const place = placeIn(table, list.book, list.places[entry]!);
      table.resolved[place]! += list.resolved[entry]!;
      table.blocked[place]! += list.blocked[entry]!;
      table.other[place]! += list.other[entry]!;
    }
  }

  /** The arrays, if they belong to this book; null if they belong to another one. */
  private arraysOf(book: KeyTable): CountArrays | null {
    this.arrays ??= new CountArrays(book);
    if (this.arrays.book !== book) return null;
    this.arrays.makeRoom();
    return this.arrays;
  }
}

function placeIn(table: KeyTable, { bytes, starts }: KeyTable, place: number): number {
  return table.place(bytes, starts[place]!, starts[place + 1]! - starts[place]!, 0);
}
