/**
 * The shared answer cache, write side. Entries are appended to the slab, a ring of segments. Opening the next segment
 * for writing evicts its entries, except those that were read since the segment was filled: they move to the segment's
 * start (second chance), so that names in use survive a scan of a million random names. Writers take a lock; readers
 * never wait: an index slot is stored only after its entry is complete, and TAIL moves before any byte behind it is
 * overwritten.
 */
import type { DnssecStatusCode } from '../../shared/query-log.ts';
import {
  CACHE_MAX_BODY,
  CACHE_SEGMENT_UNITS,
  CACHE_UNIT,
  CacheBucket,
  CacheEntry,
  CacheHead,
  CacheMarks,
} from '../../shared/memory/answer-cache-layout.ts';
import type { CacheableAnswer } from '../resolve/response/response-reader.ts';
import { leadsToNames } from './chain-names.ts';
import { NO_EDE } from '../query/query.ts';
import { hasPrivateAddress } from './private-addresses.ts';
import {
  bodyOffset,
  type CacheMemory,
  keyFlagsOf,
  keyHashLow,
  ttlOffsetsOffset,
  unitsBetween,
} from '../../shared/memory/cache-memory.ts';

/** The key of an answer. */
export interface CacheKey {
  /** Name in lower-case wire form. */
  readonly qname: Uint8Array;
  /** Hash lanes of the whole name. */
  readonly nameLow: number;
  readonly nameHigh: number;
  readonly qtype: number;
  readonly qclass: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  readonly partition: number;
}

/**
 * Metadata of an answer: when it was stored and expires, in seconds of the monotonic clock, and the fields for the log.
 */
export interface CacheNotes {
  readonly storedAtSecs: number;
  readonly expiresAtSecs: number;
  readonly staleUntilSecs: number;
  readonly dnssec: DnssecStatusCode;
  /** Index of the upstream, plus one. */
  readonly upstream: number;
  /** `ExtendedError`; NO_EDE = none. */
  readonly extendedError?: number;
  /** Result of `hasPrivateAddress` with the known NAT64 prefixes; absent = computed without prefixes. */
  readonly hasPrivateAddress?: boolean;
}

/** Maximum wait for the lock, in milliseconds; after that the answer is not cached. */
const LOCK_WAIT_MS = 5;
const LOCK_TRIES = 4;
/** Maximum share of a segment for moved entries, so that space remains for new entries. */
const MAX_KEPT_UNITS = CACHE_SEGMENT_UNITS / 2;

/** Write side of the cache; one per resolve thread. */
export class CacheWriter {
  private readonly memory: CacheMemory;
  private readonly owner: number;
  private readonly kept = new Uint8Array(MAX_KEPT_UNITS * CACHE_UNIT);
  private victim = 0;

  /** `worker` identifies the owner of the lock, so that the lock of a dead worker can be released. */
  constructor(memory: CacheMemory, worker: number) {
    this.memory = memory;
    this.owner = worker + 1;
  }

  /** Stores an answer; false if it is too large or the lock was unavailable. */
  store(key: CacheKey, answer: CacheableAnswer, notes: CacheNotes): boolean {
    if (answer.body.length > CACHE_MAX_BODY || !this.lock()) return false;
    try {
      const bodyAt = bodyOffset(key.qname.length, answer.ttlOffsets.length);
      const units = Math.ceil((bodyAt + answer.body.length) / CACHE_UNIT);
      const position = this.reserve(units);
      this.writeEntry(this.entryAt(position), units, key, answer, notes);
      this.point(position);
      Atomics.add(this.memory.head, CacheHead.INSERTIONS_WORD, 1);
    } finally {
      this.unlock();
    }
    return true;
  }

  private lock(): boolean {
    const { head } = this.memory;
    for (let tries = 0; tries < LOCK_TRIES; tries++) {
      const holder = Atomics.compareExchange(head, CacheHead.LOCK_WORD, 0, this.owner);
      if (holder === 0) return true;
      Atomics.wait(head, CacheHead.LOCK_WORD, holder, LOCK_WAIT_MS);
    }
    return false;
  }

  private unlock(): void {
    Atomics.store(this.memory.head, CacheHead.LOCK_WORD, 0);
    Atomics.notify(this.memory.head, CacheHead.LOCK_WORD, 1);
  }

  private entryAt(position: number): number {
    return (position % this.memory.slabUnits) * CACHE_UNIT;
  }

  private advance(position: number, units: number): number {
    const next = position + units;
    return next >= this.memory.positionLimit ? next - this.memory.positionLimit : next;
  }

  /** Reserves `units` in one segment and returns their position. */
  private reserve(units: number): number {
    const { head, slabWords } = this.memory;
    let position = head[CacheHead.HEAD_WORD]! >>> 0;
    const used = position % CACHE_SEGMENT_UNITS;
    if (used + units > CACHE_SEGMENT_UNITS) {
      slabWords[(this.entryAt(position) + CacheEntry.UNITS) >>> 2] = 0;
      position = this.advance(position, CACHE_SEGMENT_UNITS - used);
    }
    if (position % CACHE_SEGMENT_UNITS === 0) position = this.openSegment(position);
    Atomics.store(head, CacheHead.HEAD_WORD, this.advance(position, units) | 0);
    return position;
  }

  /**
   * Evicts the entries of the segment at `position` if the segment is in use; returns the position at which writing
   * continues.
   */
  private openSegment(position: number): number {
    const { head, slab, slabUnits, slabWords } = this.memory;
    const oldest = head[CacheHead.TAIL_WORD]! >>> 0;
    if (unitsBetween(this.memory, oldest, position) < slabUnits) return position;
    const keptUnits = this.collectUsed(oldest);
    Atomics.store(head, CacheHead.TAIL_WORD, this.advance(oldest, CACHE_SEGMENT_UNITS) | 0);
    slab.set(this.kept.subarray(0, keptUnits * CACHE_UNIT), this.entryAt(position));
    for (let moved = 0; moved < keptUnits;) {
      const at = position + moved;
      moved += slabWords[(this.entryAt(at) + CacheEntry.UNITS) >>> 2]!;
      this.point(at);
      Atomics.add(head, CacheHead.COMPACTIONS_WORD, 1);
    }
    return position + keptUnits;
  }

  /**
   * Removes every entry of the oldest segment from the index and copies entries in use; returns the number of units
   * copied.
   */
  private collectUsed(oldest: number): number {
    const { head, index, slab, slabWords } = this.memory;
    let keptUnits = 0;
    for (let passed = 0; passed < CACHE_SEGMENT_UNITS;) {
      const position = oldest + passed;
      const entry = this.entryAt(position);
      const units = slabWords[(entry + CacheEntry.UNITS) >>> 2]!;
      if (units === 0) break;
      passed += units;
      const slot = this.slotOf(entry, position);
      if (slot < 0) {
        Atomics.add(head, CacheHead.LAZY_DELETIONS_WORD, 1);
        continue;
      }
      const bucket = slot & ~(CacheBucket.WORDS - 1);
      const used = (index[bucket + CacheBucket.USED_AT]! >>> (slot - bucket)) & 1;
      this.clearSlot(bucket, slot - bucket);
      if (used === 1 && keptUnits + units <= MAX_KEPT_UNITS) {
        this.kept.set(slab.subarray(entry, entry + units * CACHE_UNIT), keptUnits * CACHE_UNIT);
        keptUnits += units;
      } else {
        Atomics.add(head, CacheHead.EVICTIONS_WORD, 1);
      }
    }
    return keptUnits;
  }

  /** Index word of the tag whose slot points at `position`; -1 if the entry was replaced. */
  private slotOf(entry: number, position: number): number {
    const { index, slabWords, bucketMask } = this.memory;
    const bucket = (slabWords[(entry + CacheEntry.HASH_LOW) >>> 2]! & bucketMask) << CacheBucket.SHIFT;
    const reference = (position + 1) | 0;
    for (let slot = bucket; slot < bucket + CacheBucket.SLOTS; slot++)
      if (index[slot + CacheBucket.REFERENCE_AT] === reference) return slot;
    return -1;
  }

  private clearSlot(bucket: number, slot: number): void {
    const { index, head } = this.memory;
    Atomics.store(index, bucket + CacheBucket.REFERENCE_AT + slot, 0);
    this.clearHints(bucket, slot);
    Atomics.sub(head, CacheHead.ENTRIES_WORD, 1);
  }

  /** Points the index at the complete entry at `position`, in place of an older one with the same key. */
  private point(position: number): void {
    const { index, slabWords, bucketMask, head } = this.memory;
    const entry = this.entryAt(position);
    const high = slabWords[(entry + CacheEntry.HASH_HIGH) >>> 2]!;
    const bucket = (slabWords[(entry + CacheEntry.HASH_LOW) >>> 2]! & bucketMask) << CacheBucket.SHIFT;
    const slot = this.chooseSlot(bucket, entry, high);
    const taken = index[bucket + CacheBucket.REFERENCE_AT + slot] !== 0;
    if (!taken) Atomics.add(head, CacheHead.ENTRIES_WORD, 1);
    index[bucket + CacheBucket.TAG_AT + slot] = high;
    Atomics.store(index, bucket + CacheBucket.REFERENCE_AT + slot, (position + 1) | 0);
    this.clearHints(bucket, slot);
  }

  private clearHints(bucket: number, slot: number): void {
    const at = bucket + CacheBucket.USED_AT;
    this.memory.index[at] = this.memory.index[at]! & ~((1 | (1 << CacheBucket.REFRESH_BIT)) << slot);
  }

  /**
   * The slot to use: the slot with the same key; if there is none, a free slot; if there is none, a slot that was not
   * read recently.
   */
  private chooseSlot(bucket: number, entry: number, high: number): number {
    const { index, head } = this.memory;
    let free = -1;
    for (let slot = 0; slot < CacheBucket.SLOTS; slot++) {
      const reference = index[bucket + CacheBucket.REFERENCE_AT + slot]!;
      if (reference === 0) free = slot;
      else if (index[bucket + slot] === high && this.sameKey(this.entryAt((reference >>> 0) - 1), entry))
        return slot;
    }
    if (free >= 0) return free;
    Atomics.add(head, CacheHead.EVICTIONS_WORD, 1);
    const used = index[bucket + CacheBucket.USED_AT]!;
    for (let slot = 0; slot < CacheBucket.SLOTS; slot++) if (((used >>> slot) & 1) === 0) return slot;
    this.victim = (this.victim + 1) % CacheBucket.SLOTS;
    return this.victim;
  }

  private sameKey(a: number, b: number): boolean {
    const { slab } = this.memory;
    for (const at of KEY_BYTES) if (slab[a + at] !== slab[b + at]) return false;
    const length = slab[a + CacheEntry.QNAME_LENGTH]!;
    for (let i = 0; i < length; i++)
      if (slab[a + CacheEntry.QNAME + i] !== slab[b + CacheEntry.QNAME + i]) return false;
    return true;
  }

  private writeEntry(
    entry: number,
    units: number,
    key: CacheKey,
    answer: CacheableAnswer,
    notes: CacheNotes,
  ): void {
    const { slab, slabWords, slabHalves } = this.memory;
    const word = entry >>> 2;
    const half = entry >>> 1;
    const keyFlags = keyFlagsOf(key.dnssecOk, key.checkingDisabled);
    slabWords[word + (CacheEntry.UNITS >>> 2)] = units;
    slabWords[word + (CacheEntry.HASH_LOW >>> 2)] = keyHashLow(key.nameLow, key.qtype, keyFlags);
    slabWords[word + (CacheEntry.HASH_HIGH >>> 2)] = key.nameHigh;
    slabHalves[half + (CacheEntry.QTYPE >>> 1)] = key.qtype;
    slabHalves[half + (CacheEntry.QCLASS >>> 1)] = key.qclass;
    slabWords[word + (CacheEntry.STORED_AT_SECS >>> 2)] = notes.storedAtSecs;
    slabWords[word + (CacheEntry.EXPIRES_AT_SECS >>> 2)] = notes.expiresAtSecs;
    slabWords[word + (CacheEntry.STALE_UNTIL_SECS >>> 2)] = notes.staleUntilSecs;
    slabHalves[half + (CacheEntry.BODY_LENGTH >>> 1)] = answer.body.length;
    slabHalves[half + (CacheEntry.ANSWERS_LENGTH >>> 1)] = answer.answersLength;
    slabHalves[half + (CacheEntry.ANSWER_COUNT >>> 1)] = answer.answerCount;
    slabHalves[half + (CacheEntry.AUTHORITY_COUNT >>> 1)] = answer.authorityCount;
    slabHalves[half + (CacheEntry.TTL_COUNT >>> 1)] = answer.ttlOffsets.length;
    slab[entry + CacheEntry.RCODE] = answer.rcode;
    slab[entry + CacheEntry.KEY_FLAGS] = keyFlags;
    slab[entry + CacheEntry.QNAME_LENGTH] = key.qname.length;
    slab[entry + CacheEntry.DNSSEC] = notes.dnssec;
    slabHalves[half + (CacheEntry.UPSTREAM >>> 1)] = notes.upstream;
    slabHalves[half + (CacheEntry.PARTITION >>> 1)] = key.partition;
    slab[entry + CacheEntry.EXTENDED_ERROR] = (notes.extendedError ?? NO_EDE) + 1;
    slab[entry + CacheEntry.MARKS] =
      (leadsToNames(answer) ? CacheMarks.HAS_TARGETS : 0) |
      ((notes.hasPrivateAddress ?? hasPrivateAddress(answer)) ? CacheMarks.HAS_PRIVATE_ADDRESS : 0);
    const ttlsAt = ttlOffsetsOffset(key.qname.length);
    slabWords[(entry + ttlsAt - 4) >>> 2] = 0;
    slab.set(key.qname, entry + CacheEntry.QNAME);
    slabHalves.set(answer.ttlOffsets, half + (ttlsAt >>> 1));
    slab.set(answer.body, entry + bodyOffset(key.qname.length, answer.ttlOffsets.length));
  }
}

/** Bytes of an entry that, together with the qname, form its key. */
const KEY_BYTES: readonly number[] = [
  CacheEntry.QTYPE,
  CacheEntry.QTYPE + 1,
  CacheEntry.QCLASS,
  CacheEntry.QCLASS + 1,
  CacheEntry.KEY_FLAGS,
  CacheEntry.QNAME_LENGTH,
  CacheEntry.PARTITION,
  CacheEntry.PARTITION + 1,
];
