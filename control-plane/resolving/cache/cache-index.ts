/**
 * Goes through the entries of the shared answer cache, to list, remove or save them. Entries are returned as consistent
 * copies. Changes of the index require the lock, like in the workers.
 */
import { ApiError } from '../../api/api-error.ts';
import { setImmediate as othersTurn, setTimeout as delay } from 'node:timers/promises';
import {
  CACHE_LOCK_OF_CONTROL_PLANE,
  CACHE_UNIT,
  CacheBucket,
  CacheEntry,
  CacheHead,
} from '../../../shared/memory/answer-cache-layout.ts';
import { CacheMemory, bodyOffset, unitsBetween } from '../../../shared/memory/cache-memory.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import type { EntryMatch } from './entry-match.ts';

/** One entry, copied. */
export interface CopiedEntry {
  /** The entry as stored in the slab, the memory of the entries (`CacheEntry`), including padding. */
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly inUse: boolean;
}

/** Seconds after which a client may retry; the worker then has released the lock, or the supervisor has broken it. */
const RETRY_SECS = 1;

/** 503: the cache was locked for too long. */
export class CacheBusy extends ApiError {
  constructor() {
    super(503, 'busy', 'the answer cache is locked by a worker; some entries may already have been cleared', {
      headers: { 'Retry-After': String(RETRY_SECS) },
    });
    this.name = 'CacheBusy';
  }
}

/** Number of buckets that are processed each time the lock is taken; takes less than a millisecond. */
const BUCKETS_PER_TURN = 1024;
const LOCK_TRIES = 500;
const ALL = { matches: (): boolean => true };
const ORDER = new Int32Array(new SharedArrayBuffer(4));

/** A range of buckets of the index, end exclusive. */
interface Turn {
  readonly first: number;
  readonly end: number;
}

/** Goes through the index of one cache. */
export class CacheIndex {
  private readonly memory: CacheMemory;

  constructor(buffer: SharedArrayBuffer) {
    this.memory = new CacheMemory(buffer);
  }

  /** An unsigned word of the head (`CacheHead`). */
  head(word: number): number {
    return Atomics.load(this.memory.head, word) >>> 0;
  }

  /** Number of bytes of the slab that are in use, including entries that were replaced or removed. */
  get bytes(): number {
    const units = unitsBetween(this.memory, this.head(CacheHead.TAIL_WORD), this.head(CacheHead.HEAD_WORD));
    return units * CACHE_UNIT;
  }

  /** All entries. An entry that changes while it is read is skipped. */
  *entries(): Generator<CopiedEntry> {
    for (const turn of this.turns())
      for (const place of this.places(turn, ALL)) {
        const entry = this.copy(place);
        if (entry !== null) yield entry;
      }
  }

  /** Divides the index into parts that can each be processed in a fraction of a millisecond. */
  *turns(): Generator<Turn> {
    const buckets = this.memory.bucketMask + 1;
    for (let first = 0; first < buckets; first += BUCKETS_PER_TURN)
      yield { first, end: Math.min(first + BUCKETS_PER_TURN, buckets) };
  }

  /**
   * In a part of the index: the places of matching entries, for `copy()`. An entry may no longer exist when it is
   * copied.
   */
  *places({ first, end }: Turn, match: Pick<EntryMatch, 'matches'>): Generator<number> {
    const { index, slab, slabUnits } = this.memory;
    for (let bucket = first; bucket < end; bucket++) {
      const references = (bucket << CacheBucket.SHIFT) + CacheBucket.REFERENCE_AT;
      for (let place = references; place < references + CacheBucket.SLOTS; place++) {
        const reference = index[place]!;
        if (reference === 0) continue;
        const position = (reference >>> 0) - 1;
        if (this.isGone(position)) continue;
        if (match.matches(slab, (position % slabUnits) * CACHE_UNIT)) yield place;
      }
    }
  }

  /** Removes the matching entries; returns their number. May reject with CacheBusy. */
  async drop(match: Pick<EntryMatch, 'matches'>): Promise<number> {
    const { index, head } = this.memory;
    let dropped = 0;
    for (const turn of this.turns()) {
      await this.lock();
      try {
        for (const place of this.places(turn, match)) {
          Atomics.store(index, place, 0);
          Atomics.sub(head, CacheHead.ENTRIES_WORD, 1);
          dropped++;
        }
      } finally {
        this.unlock();
      }
      await othersTurn();
    }
    return dropped;
  }

  /** The entry at a place; null if the place is free, or the entry was overwritten while it was read. */
  copy(place: number): CopiedEntry | null {
    const memory = this.memory;
    const reference = Atomics.load(memory.index, place);
    if (reference === 0) return null;
    const position = (reference >>> 0) - 1;
    const at = (position % memory.slabUnits) * CACHE_UNIT;
    const units = memory.slabWords[(at + CacheEntry.UNITS) >>> 2]! >>> 0;
    const bytes = memory.slab.slice(at, at + units * CACHE_UNIT);
    // The atomic operation ensures that the preceding loads are complete, see `AnswerCache`.
    Atomics.add(ORDER, 0, 1);
    if (this.isGone(position) || !isWhole(bytes)) return null;
    const bucket = place & ~(CacheBucket.WORDS - 1);
    const slot = place - bucket - CacheBucket.REFERENCE_AT;
    const inUse = ((memory.index[bucket + CacheBucket.USED_AT]! >>> slot) & 1) === 1;
    return { bytes, view: viewOf(bytes), inUse };
  }

  /** Whether the entry at a position was overwritten, because the tail has passed the position. */
  private isGone(position: number): boolean {
    return unitsBetween(this.memory, this.head(CacheHead.TAIL_WORD), position) >= this.memory.slabUnits;
  }

  private async lock(): Promise<void> {
    const { head } = this.memory;
    for (let tries = 0; tries < LOCK_TRIES; tries++) {
      const holder = Atomics.compareExchange(head, CacheHead.LOCK_WORD, 0, CACHE_LOCK_OF_CONTROL_PLANE);
      if (holder === 0) return;
      await delay(1);
    }
    throw new CacheBusy();
  }

  private unlock(): void {
    const { head } = this.memory;
    Atomics.store(head, CacheHead.LOCK_WORD, 0);
    Atomics.notify(head, CacheHead.LOCK_WORD, 1);
  }
}

/** Name of an entry, as text. */
export function entryName({ bytes }: CopiedEntry): string {
  return nameToText(bytes.subarray(CacheEntry.QNAME, CacheEntry.QNAME + bytes[CacheEntry.QNAME_LENGTH]!));
}

/** Whether all parts of an entry are within its bounds. */
export function isWhole(bytes: Uint8Array): boolean {
  if (bytes.length < CacheEntry.QNAME) return false;
  const view = viewOf(bytes);
  const nameLength = bytes[CacheEntry.QNAME_LENGTH]!;
  const bodyAt = bodyOffset(nameLength, view.getUint16(CacheEntry.TTL_COUNT, true));
  const end = bodyAt + view.getUint16(CacheEntry.BODY_LENGTH, true);
  return (
    view.getUint32(CacheEntry.UNITS, true) * CACHE_UNIT === bytes.length &&
    nameLength > 0 &&
    end <= bytes.length
  );
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
