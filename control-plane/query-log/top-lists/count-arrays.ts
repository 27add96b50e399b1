/** Counts of the keys of one book (`name-book.ts`), in arrays, because adding to an array is fast. */
import { NameClass } from '../block/block-layout.ts';
import type { KeyTable } from './key-table.ts';
import type { KnownList, KnownNames } from './name-book.ts';

const MIN_SPACE = 512;

/** The counts; counts of keys that were not added are 0. */
export class CountArrays {
  readonly book: KeyTable;
  resolved = new Float64Array(0);
  blocked = new Float64Array(0);
  other = new Float64Array(0);

  constructor(book: KeyTable) {
    this.book = book;
  }

  /** Adds names of a block with their numbers of queries. */
  addNames(names: KnownNames, queries: ArrayLike<number>): void {
    this.makeRoom();
    const { resolved, blocked, other } = this;
    const { places, classes } = names;
    for (let name = 0; name < places.length; name++) {
      const place = places[name]!;
      const count = queries[name]!;
      if (classes[name] === NameClass.RESOLVED) resolved[place]! += count;
      else if (classes[name] === NameClass.BLOCKED) blocked[place]! += count;
      else other[place]! += count;
    }
  }

  /** Adds one query for the name of each of these rows. */
  addQueries({ places, classes }: KnownNames, nameOf: Uint16Array, rows: readonly number[]): void {
    this.makeRoom();
    const { resolved, blocked, other } = this;
    for (const row of rows) {
      const name = nameOf[row]!;
      const place = places[name]!;
      if (classes[name] === NameClass.RESOLVED) resolved[place]!++;
      else if (classes[name] === NameClass.BLOCKED) blocked[place]!++;
      else other[place]!++;
    }
  }

  /** Adds the counts of a top list; `wanted` is the index of the only group to add, null = all groups. */
  addList(list: KnownList, wanted: number | null): void {
    this.makeRoom();
    const { resolved, blocked, other } = this;
    for (let entry = 0; entry < list.places.length; entry++) {
      if (wanted !== null && list.groupPlaces[entry] !== wanted) continue;
      const place = list.places[entry]!;
      resolved[place]! += list.resolved[entry]!;
      blocked[place]! += list.blocked[entry]!;
      other[place]! += list.other[entry]!;
    }
  }

  /** Calls `take` for each key that has queries, with the offset and length of its text and its index. */
  forEach(take: (start: number, length: number, place: number) => void): void {
    const { resolved, blocked, other } = this;
    const { starts } = this.book;
    for (let place = 0; place < resolved.length; place++) {
      if (resolved[place]! + blocked[place]! + other[place]! === 0) continue;
      take(starts[place]!, starts[place + 1]! - starts[place]!, place);
    }
  }

  /** Makes space for all keys of the book. */
  makeRoom(): void {
    const { size } = this.book;
    if (this.resolved.length >= size) return;
    const capacity = Math.max(MIN_SPACE, 2 ** Math.ceil(Math.log2(size)));
    this.resolved = enlarged(this.resolved, capacity);
    this.blocked = enlarged(this.blocked, capacity);
    this.other = enlarged(this.other, capacity);
  }
}

function enlarged(from: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const to = new Float64Array(capacity);
  to.set(from);
  return to;
}
