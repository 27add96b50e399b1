/** Sums by key: of keys that have numbers in one book in arrays, which is quick, of all others in a table. */
import { NameClass } from '../block/block-layout.ts';
import { DistinctSketch } from './distinct-sketch.ts';
import type { SummedKeys } from './key-sums.ts';
import { KeyTable } from './key-table.ts';
import type { KnownList, KnownNames } from './name-book.ts';

/** The sums of one question. */
export class BookSums {
  /** For what has no numbers; its tags are 0. */
  readonly table = new KeyTable();
  /** The book whose keys are summed in arrays: the first that comes. */
  private book: KeyTable | undefined;
  private resolved = new Float64Array(0);
  private blocked = new Float64Array(0);
  private other = new Float64Array(0);
  private unseen = 0;
  private sketch: DistinctSketch | null = null;

  /** Adds names of a block, each with so many queries. */
  addNames(names: KnownNames, queries: ArrayLike<number>): void {
    if (!this.isOf(names.book)) return this.addForeignNames(names, queries);
    const { resolved, blocked, other } = this;
    const { places, classes } = names;
    for (let name = 0; name < places.length; name++) {
      const place = places[name]!;
      if (classes[name] === NameClass.RESOLVED) resolved[place]! += queries[name]!;
      else if (classes[name] === NameClass.BLOCKED) blocked[place]! += queries[name]!;
      else other[place]! += queries[name]!;
    }
  }

  /** Adds one query for the name of each of these rows. */
  addQueries(names: KnownNames, nameOf: Uint16Array, rows: readonly number[]): void {
    if (!this.isOf(names.book)) {
      const queries = new Uint32Array(names.places.length);
      for (const row of rows) queries[nameOf[row]!]!++;
      return this.addForeignNames(names, queries);
    }
    const { resolved, blocked, other } = this;
    const { places, classes } = names;
    for (const row of rows) {
      const name = nameOf[row]!;
      const place = places[name]!;
      if (classes[name] === NameClass.RESOLVED) resolved[place]!++;
      else if (classes[name] === NameClass.BLOCKED) blocked[place]!++;
      else other[place]!++;
    }
  }

  /** Adds a list, or one group of it. */
  addList(list: KnownList, group: number | undefined): void {
    const wanted = group === undefined ? null : list.groups.indexOf(group);
    const unseen = list.unseen * (wanted === null ? list.groups.length : wanted < 0 ? 0 : 1);
    if (!this.isOf(list.book)) return this.addForeignList(list, wanted, unseen);
    const { resolved, blocked, other } = this;
    for (let entry = 0; entry < list.places.length; entry++) {
      if (wanted !== null && list.groupPlaces[entry] !== wanted) continue;
      const place = list.places[entry]!;
      resolved[place]! += list.resolved[entry]!;
      blocked[place]! += list.blocked[entry]!;
      other[place]! += list.other[entry]!;
    }
    this.unseen += unseen;
    if (list.sketch !== null) (this.sketch ??= new DistinctSketch()).join(list.sketch);
  }

  /** All of it; valid until something is added. */
  keys(): SummedKeys {
    const { table, book } = this;
    if (book === undefined) return table;
    if (table.size > 0 || table.unseen > 0 || table.sketch !== null) return this.inTable(book);
    const { resolved, blocked, other, unseen, sketch } = this;
    if (sketch !== null) this.forEach(book, (start, length) => sketch.add(book.bytes, start, length));
    const { size, bytes, starts } = book;
    return { size, bytes, starts, resolved, blocked, other, unseen, sketch };
  }

  private inTable(book: KeyTable): KeyTable {
    const { table, resolved, blocked, other } = this;
    table.addUnseen(this.unseen, this.sketch);
    this.forEach(book, (start, length, from) => {
      const place = table.place(book.bytes, start, length, 0);
      table.resolved[place]! += resolved[from]!;
      table.blocked[place]! += blocked[from]!;
      table.other[place]! += other[from]!;
    });
    return table;
  }

  /** Calls `take` for each key of the book that has queries. */
  private forEach({ starts }: KeyTable, take: (start: number, length: number, place: number) => void): void {
    const { resolved, blocked, other } = this;
    for (let place = 0; place < resolved.length; place++) {
      if (resolved[place]! + blocked[place]! + other[place]! === 0) continue;
      take(starts[place]!, starts[place + 1]! - starts[place]!, place);
    }
  }

  /** Names of a book that was full while the question ran. */
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

  /** Whether it is the book of the arrays, which then have room for all its keys. */
  private isOf(book: KeyTable): boolean {
    this.book ??= book;
    if (this.book !== book) return false;
    const room = book.tags.length;
    if (this.resolved.length >= room) return true;
    this.resolved = enlarged(this.resolved, room);
    this.blocked = enlarged(this.blocked, room);
    this.other = enlarged(this.other, room);
    return true;
  }
}

function placeIn(table: KeyTable, { bytes, starts }: KeyTable, place: number): number {
  return table.place(bytes, starts[place]!, starts[place + 1]! - starts[place]!, 0);
}

function enlarged(from: Float64Array, room: number): Float64Array<ArrayBuffer> {
  const to = new Float64Array(room);
  to.set(from);
  return to;
}
