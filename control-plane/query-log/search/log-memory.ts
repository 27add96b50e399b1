/**
 * Cache of the scan thread: heads and names of blocks, and top lists of names and clients. The key of a block is its
 * position in the log and the checksums of all its frames; the key of a list includes its checksum. A block or list
 * that has changed therefore has another key, and a deleted one is not requested again.
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

/** Maximum size in bytes of cached blocks and top lists, without the texts of names. */
const MAX_BYTES = 40 * 1024 * 1024;
/** Approximate size of a head on the heap. */
const HEAD_BYTES = 1024;
const ENTRY_BYTES = 160;
const REPEAT_BYTES = 8;
/**
 * Minimum number of requests between two replacements of a full book. A book is a table of names or clients that the
 * cached blocks and lists share.
 */
const BOOK_QUESTIONS = 16;

/** Cache of blocks and top lists. */
export class LogMemory {
  private readonly blocks: ByteCache<KnownBlock | KnownList>;
  private readonly maxKeys: number | undefined;
  private books: Readonly<Record<ListKind, NameBook>>;
  private booksSince = 0;

  constructor(maxBytes = MAX_BYTES, maxKeys?: number) {
    this.blocks = new ByteCache(maxBytes);
    this.maxKeys = maxKeys;
    this.books = this.newBooks();
  }

  /** Must be called when a request begins: data that the last few requests used is not evicted for the new one. */
  beginQuestion(): void {
    this.blocks.beginRound();
  }

  /** Cached data of a block. */
  findBlock(block: StoredBlock): KnownBlock | undefined {
    return this.blocks.get(keyOfBlock(block)) as KnownBlock | undefined;
  }

  /** Caches the head of a block. */
  keepHead(block: StoredBlock, head: BlockHead): void {
    this.blocks.put(keyOfBlock(block), { head }, bytesOfHead(head));
  }

  /**
   * Caches the names of a block when they are read for the second time, so that a single search costs nothing extra; if
   * `isAtOnce` is true, caches them at the first time.
   */
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

  /** Cached data of a top list. */
  findList(kind: ListKind, place: ListPlace): KnownList | undefined {
    return this.blocks.get(keyOfList(kind, place)) as KnownList | undefined;
  }

  /** Caches a top list; undefined if there is no space for its keys. */
  keepList(kind: ListKind, place: ListPlace, list: NameList): KnownList | undefined {
    const known = this.books[kind].takeList(list);
    if (known === null) this.beginBooks();
    else this.blocks.put(keyOfList(kind, place), known, bytesOfList(known));
    return known ?? undefined;
  }

  /** Replaces the books with empty ones, because a flood of random names has filled one. */
  private beginBooks(): void {
    if (this.blocks.round - this.booksSince < BOOK_QUESTIONS) return;
    this.booksSince = this.blocks.round;
    this.books = this.newBooks();
    this.blocks.clear();
  }

  private newBooks(): Record<ListKind, NameBook> {
    return { names: new NameBook(this.maxKeys), clients: new NameBook(this.maxKeys) };
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

/** A cache key that identifies this version of the list. */
function keyOfList(kind: ListKind, { grain, startMs, nodeId, queries, checksum }: ListPlace): string {
  return [kind, grain, startMs, nodeId, queries, checksum].join(',');
}
