/**
 * The entries of the shared answer cache, one after another, to list, remove or save them. An entry is returned as a
 * consistent copy; changes of the index need the lock, as in the workers.
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
  /** The entry as stored in the slab (`CacheEntry`), including padding. */
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly inUse: boolean;
}

/** Seconds after which a worker has released the cache, or the supervisor has broken its lock. */
const RETRY_SECS = 1;

/** 503: the cache stayed locked. */
export class CacheBusy extends ApiError {
  constructor() {
    super(503, 'busy', 'the answer cache is locked by a worker; some entries may already have been cleared', {
      headers: { 'Retry-After': String(RETRY_SECS) },
    });
    this.name = 'CacheBusy';
  }
}

/** Buckets processed each time the lock is taken: less than a millisecond. */
const BUCKETS_PER_TURN = 1024;
const LOCK_TRIES = 500;
const ALL = { matches: (): boolean => true };
const ORDER = new Int32Array(new SharedArrayBuffer(4));

/** A range of buckets of the index, end exclusive. */
interface Turn {
  readonly first: number;
  readonly end: number;
}

/** Walks the index of one cache. */
export class CacheIndex {
  private readonly memory: CacheMemory;

  constructor(buffer: SharedArrayBuffer) {
    this.memory = new CacheMemory(buffer);
  }

  /** An unsigned word of the head (`CacheHead`). */
  head(word: number): number {
    return Atomics.load(this.memory.head, word) >>> 0;
  }

  /** Bytes of the slab in use, including dead entries. */
  get bytes(): number {
    const units = unitsBetween(this.memory, this.head(CacheHead.TAIL_WORD), this.head(CacheHead.HEAD_WORD));
    return units * CACHE_UNIT;
  }

  /** Every entry that is consistent while it is read. */
  *entries(): Generator<CopiedEntry> {
    for (const turn of this.turns())
      for (const place of this.places(turn, ALL)) {
        const entry = this.copy(place);
        if (entry !== null) yield entry;
      }
  }

  /** Splits the index into parts, each a fraction of a millisecond's work. */
  *turns(): Generator<Turn> {
    const buckets = this.memory.bucketMask + 1;
    for (let first = 0; first < buckets; first += BUCKETS_PER_TURN)
      yield { first, end: Math.min(first + BUCKETS_PER_TURN, buckets) };
  }

  /**
   * Places with a matching entry in a part of the index, for `copy`; the entry may no longer exist when it is copied.
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

  /** Removes the matching entries; returns their number. Rejects with CacheBusy. */
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
    // An atomic operation orders the loads before it, see `AnswerCache`.
    Atomics.add(ORDER, 0, 1);
    if (this.isGone(position) || !isWhole(bytes)) return null;
    const bucket = place & ~(CacheBucket.WORDS - 1);
    const slot = place - bucket - CacheBucket.REFERENCE_AT;
    const inUse = ((memory.index[bucket + CacheBucket.USED_AT]! >>> slot) & 1) === 1;
    return { bytes, view: viewOf(bytes), inUse };
  }

  /** Whether the tail has passed a position. */
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
