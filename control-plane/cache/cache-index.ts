/**
 * The entries of the shared answer cache, one after the other, for those who list, drop or save them. An entry is
 * returned as a consistent copy; changes of the index need the lock, as in the workers.
 */
import { ApiError } from '../api/api-error.ts';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CACHE_LOCK_OF_CONTROL_PLANE,
  CACHE_UNIT,
  CacheBucket,
  CacheEntry,
  CacheHead,
} from '../../shared/memory/answer-cache-layout.ts';
import { CacheMemory, bodyOffset, unitsBetween } from '../../shared/memory/cache-memory.ts';
import { nameToText } from '../../shared/dns/name.ts';

/** One entry, copied. */
export interface CopiedEntry {
  /** As it lies in the slab (`CacheEntry`), padding included. */
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly inUse: boolean;
}

/** Seconds after which a worker has released the cache, or the supervisor has taken its lock away. */
const RETRY_SECS = 1;

/** 503: the cache stayed locked. */
export class CacheBusy extends ApiError {
  constructor() {
    super(503, 'busy', 'a worker holds the answer cache; some entries may be dropped already', {
      headers: { 'Retry-After': String(RETRY_SECS) },
    });
    this.name = 'CacheBusy';
  }
}

/** Buckets processed per hold of the lock: less than a millisecond. */
const BUCKETS_A_TURN = 1024;
const LOCK_TRIES = 500;

/** Walks the index of one cache. */
export class CacheIndex {
  private readonly memory: CacheMemory;

  constructor(buffer: SharedArrayBuffer) {
    this.memory = new CacheMemory(buffer);
  }

  /** A word of the head, unsigned (`CacheHead`). */
  head(word: number): number {
    return Atomics.load(this.memory.head, word) >>> 0;
  }

  /** Bytes of the slab that entries, dead ones included, take. */
  get bytes(): number {
    const units = unitsBetween(this.memory, this.head(CacheHead.TAIL_WORD), this.head(CacheHead.HEAD_WORD));
    return units * CACHE_UNIT;
  }

  /** Every entry that is consistent while it is read. */
  *entries(): Generator<CopiedEntry> {
    for (let bucket = 0; bucket <= this.memory.bucketMask; bucket++) {
      for (let slot = 0; slot < CacheBucket.SLOTS; slot++) {
        const entry = this.copy(bucket << CacheBucket.SHIFT, slot);
        if (entry !== null) yield entry;
      }
    }
  }

  /** Drops the entries that `matches`; returns how many. Rejects with CacheBusy. */
  async drop(matches: (entry: CopiedEntry) => boolean): Promise<number> {
    let dropped = 0;
    for (let bucket = 0; bucket <= this.memory.bucketMask; bucket += BUCKETS_A_TURN) {
      await this.lock();
      try {
        const end = Math.min(bucket + BUCKETS_A_TURN, this.memory.bucketMask + 1);
        for (let at = bucket; at < end; at++) dropped += this.dropIn(at << CacheBucket.SHIFT, matches);
      } finally {
        this.unlock();
      }
    }
    return dropped;
  }

  private dropIn(bucket: number, matches: (entry: CopiedEntry) => boolean): number {
    const { index, head } = this.memory;
    let dropped = 0;
    for (let slot = 0; slot < CacheBucket.SLOTS; slot++) {
      const entry = this.copy(bucket, slot);
      if (entry === null || !matches(entry)) continue;
      Atomics.store(index, bucket + CacheBucket.REFERENCE_AT + slot, 0);
      Atomics.sub(head, CacheHead.ENTRIES_WORD, 1);
      dropped++;
    }
    return dropped;
  }

  /** Null if the slot is free, or the entry was overwritten while it was read. */
  private copy(bucket: number, slot: number): CopiedEntry | null {
    const memory = this.memory;
    const reference = Atomics.load(memory.index, bucket + CacheBucket.REFERENCE_AT + slot);
    if (reference === 0) return null;
    const position = (reference >>> 0) - 1;
    const at = (position % memory.slabUnits) * CACHE_UNIT;
    const units = memory.slabWords[(at + CacheEntry.UNITS) >>> 2]! >>> 0;
    const bytes = memory.slab.slice(at, at + units * CACHE_UNIT);
    // An atomic operation orders the loads before it, see `AnswerCache`.
    Atomics.add(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
    const isGone = unitsBetween(memory, this.head(CacheHead.TAIL_WORD), position) >= memory.slabUnits;
    if (isGone || !isWhole(bytes)) return null;
    const inUse = ((memory.index[bucket + CacheBucket.USED_AT]! >>> slot) & 1) === 1;
    return { bytes, view: viewOf(bytes), inUse };
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
