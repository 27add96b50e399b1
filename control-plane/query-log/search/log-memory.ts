/**
 * Cache of the search thread: heads and names of blocks, lists of names and clients. A block
 * is known by its place in the log and the checksums of all its frames, a list by its checksum: one that was merged, or
 * added to, is another one, and one that was dropped is not asked for again.
 */
import type { BlockReader } from '../block/block-reader.ts';
import type { BlockHead } from '../block/block-layout.ts';
import {
  bytesOfList,
  bytesOfNames,
  type KnownList,
  type KnownNames,
  NameBook,
} from '../top-lists/name-book.ts';
import type { NameList } from '../top-lists/name-list.ts';
import type { ListKind, ListPlace } from '../top-lists/name-list-store.ts';
import { ByteCache } from './byte-cache.ts';
import type { KnownBlock, StoredBlock } from './stored-block.ts';

/** Bytes of blocks and lists that are kept, except the texts of names. */
const MOST_BYTES = 40 * 1024 * 1024;
/** Bytes of a head on the heap, about. */
const HEAD_BYTES = 1024;
const ENTRY_BYTES = 160;
const REPEAT_BYTES = 8;
/** Minimum number of questions before a full book is replaced. */
const BOOK_QUESTIONS = 16;

/** The memory. */
export class LogMemory {
  private readonly blocks: ByteCache<KnownBlock | KnownList>;
  private readonly mostKeys: number | undefined;
  private books: Readonly<Record<ListKind, NameBook>>;
  private booksSince = 0;

  constructor(mostBytes = MOST_BYTES, mostKeys?: number) {
    this.blocks = new ByteCache(mostBytes);
    this.mostKeys = mostKeys;
    this.books = this.newBooks();
  }

  /** Notes that another question is asked: what the last ones used is not given up for it. */
  beginQuestion(): void {
    this.blocks.beginRound();
  }

  /** Known facts about a block. */
  findBlock(block: StoredBlock): KnownBlock | undefined {
    return this.blocks.get(keyOfBlock(block)) as KnownBlock | undefined;
  }

  /** Keeps the head of a block. */
  keepHead(block: StoredBlock, head: BlockHead): void {
    this.blocks.put(keyOfBlock(block), { head }, bytesOfHead(head));
  }

  /** Keeps the names of a block the second time, so that a single search pays nothing for it; or at once. */
  keepNames(block: StoredBlock, reader: BlockReader, isAtOnce = false): KnownNames | undefined {
    const known = this.findBlock(block);
    if (known === undefined || known.names !== undefined) return known?.names;
    if (!isAtOnce && known.wereNamesRead !== true) {
      known.wereNamesRead = true;
      return undefined;
    }
    const names = this.books.names.takeNames(reader.nameCounts());
    if (names === null) this.beginBooks();
    else if (this.blocks.enlarge(keyOfBlock(block), bytesOfNames(names))) known.names = names;
    return names ?? undefined;
  }

  /** Known facts about a list. */
  findList(kind: ListKind, place: ListPlace): KnownList | undefined {
    return this.blocks.get(keyOfList(kind, place)) as KnownList | undefined;
  }

  /** Keeps a list; undefined if there is no space for its keys. */
  keepList(kind: ListKind, place: ListPlace, list: NameList): KnownList | undefined {
    const known = this.books[kind].takeList(list);
    if (known === null) this.beginBooks();
    else this.blocks.put(keyOfList(kind, place), known, bytesOfList(known));
    return known ?? undefined;
  }

  /** A flood of random names filled one. */
  private beginBooks(): void {
    if (this.blocks.round - this.booksSince < BOOK_QUESTIONS) return;
    this.booksSince = this.blocks.round;
    this.books = this.newBooks();
    this.blocks.clear();
  }

  private newBooks(): Record<ListKind, NameBook> {
    return { names: new NameBook(this.mostKeys), clients: new NameBook(this.mostKeys) };
  }
}

function bytesOfHead({ clients, outcomes, rules, repeats }: BlockHead): number {
  const entries = clients.length + outcomes.length + rules.length;
  return HEAD_BYTES + entries * ENTRY_BYTES + (repeats?.rows.length ?? 0) * REPEAT_BYTES;
}

function keyOfBlock({
  runId,
  firstSeq,
  rowCount,
  hourUs,
  firstUs,
  lastUs,
  lengths,
  checksums,
}: StoredBlock): string {
  return [runId, firstSeq, rowCount, hourUs, firstUs, lastUs, ...lengths, ...checksums].join(',');
}

/** A key that no other list has, nor this one once it is another. */
function keyOfList(kind: ListKind, { grain, startMs, nodeId, queries, checksum }: ListPlace): string {
  return [kind, grain, startMs, nodeId, queries, checksum].join(',');
}
