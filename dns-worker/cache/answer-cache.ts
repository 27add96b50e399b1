/**
 * The shared answer cache, read side. `answer` finds an entry by hash, compares the whole key, copies the records after
 * the client's question, and counts their TTLs down. Readers take no lock and never wait: they copy the entry first,
 * and use the copy only if the writer has not moved TAIL past the entry since. `cache-writer.ts` writes the cache;
 * `shared/memory/answer-cache-layout.ts` has its layout.
 */
import type { DnssecStatusCode } from '../../shared/query-log.ts';
import {
  CACHE_UNIT,
  CacheBucket,
  CacheEntry,
  CacheHead,
  CacheMarks,
} from '../../shared/memory/answer-cache-layout.ts';
import { ExtendedError, RRClass } from '../../shared/dns/iana.ts';
import type { Query } from '../query/query.ts';
import {
  bodyOffset,
  type CacheMemory,
  keyFlagsOf,
  keyHashLow,
  ttlOffsetsOffset,
  unitsBetween,
} from '../../shared/memory/cache-memory.ts';
import { authenticFlag, finishReply, hasRoom, optSize, replyLimit } from '../respond/reply.ts';
import { readU32, writeU32 } from '../../shared/dns/wire.ts';

/** Result of a lookup. */
export const CacheHit = { NONE: 0, FRESH: 1, STALE: 2 } as const;
export type CacheHitCode = (typeof CacheHit)[keyof typeof CacheHit];

/**
 * An answer is due for a refresh this many seconds before it expires, unless its whole lifetime is at most
 * SHORT_LIFE_SECS.
 */
const LAST_SECS = 2;
const SHORT_LIFE_SECS = 5;

/** Number of words in a CPU cache line. */
const LINE_WORDS = 16;

/** TTL of records in a stale answer, seconds (RFC 8767 section 4 recommends 30). */
const STALE_TTL_SECS = 30;

/** Whether the CPU may read TAIL before the copy is complete, so that an atomic write must separate the two. */
const LOADS_MAY_PASS_LOADS = process.arch !== 'x64';

/** Read side of the cache; one per thread. */
export class AnswerCache {
  private readonly memory: CacheMemory;
  refreshes: boolean;
  /** A word that only this thread writes; an atomic write to it orders the loads before it (fence). */
  private readonly fence = new Int32Array(new SharedArrayBuffer(64));

  /** `refreshes`: whether to set `Query.wantsRefresh` for answers that are in use and expire soon. */
  constructor(memory: CacheMemory, refreshes = false) {
    this.memory = memory;
    this.refreshes = refreshes;
  }

  /**
   * Answers `query` from the cache; `nowSecs` is monotonic time. Result: FRESH, with the answer in the slot; STALE,
   * with an expired answer in the slot, if `allowStale` is true; or NONE.
   */
  answer(query: Query, partition: number, nowSecs: number, allowStale: boolean): CacheHitCode {
    const memory = this.memory;
    const keyFlags = keyFlagsOf(query.dnssecOk, query.checkingDisabled);
    const low = keyHashLow(query.hashLow[0]!, query.qtype, keyFlags);
    const high = query.hashHigh[0]!;
    const bucket = (low & memory.bucketMask) << CacheBucket.SHIFT;
    const index = memory.index;
    for (let slot = 0; slot < CacheBucket.SLOTS; slot++) {
      if (index[bucket + slot] !== high) continue;
      // A plain load is enough: the entry's own key is checked, so a stale reference does no harm.
      const reference = index[bucket + CacheBucket.REFERENCE_AT + slot]!;
      if (reference === 0) continue;
      const position = (reference >>> 0) - 1;
      const entry = (position % memory.slabUnits) * CACHE_UNIT;
      if (!this.keyMatches(entry, query, partition, keyFlags)) continue;
      const hit = this.copyAnswer(entry, query, nowSecs, allowStale);
      if (LOADS_MAY_PASS_LOADS) Atomics.add(this.fence, 0, 1);
      const tail = Atomics.load(memory.head, CacheHead.TAIL_WORD) >>> 0;
      if (unitsBetween(memory, tail, position) >= memory.slabUnits) return CacheHit.NONE;
      if (hit === CacheHit.NONE) return hit;
      query.cacheReference = reference;
      const hints = index[bucket + CacheBucket.USED_AT]!;
      const using = 1 << slot;
      const refreshing = using << CacheBucket.REFRESH_BIT;
      // An answer is worth a refresh only if it was read before, and one refresh is enough.
      query.wantsRefresh =
        this.isEnding && hit === CacheHit.FRESH && (hints & (using | refreshing)) === using;
      index[bucket + CacheBucket.USED_AT] = hints | using | (query.wantsRefresh ? refreshing : 0);
      this.finish(query, hit);
      return hit;
    }
    return CacheHit.NONE;
  }

  /** Seconds until an answer expires, by the `cacheReference` that `answer` set; for explanations. */
  secsLeft(reference: number, nowSecs: number): number {
    const { slabUnits, slabWords } = this.memory;
    const entry = (((reference >>> 0) - 1) % slabUnits) * CACHE_UNIT;
    return Math.max(0, slabWords[(entry + CacheEntry.EXPIRES_AT_SECS) >>> 2]! - nowSecs);
  }

  /**
   * Loads the bucket of a key into the CPU cache, so that `answer` finds it there. The result only keeps the load from
   * being optimized away.
   */
  touchBucket(low: number): number {
    const { index, bucketMask } = this.memory;
    return index[(low & bucketMask) << CacheBucket.SHIFT]!;
  }

  /**
   * Loads the first two cache lines of the key's entry into the CPU cache; returns 0 if the key has no entry. The index
   * may refer to an entry that was replaced, which is harmless here.
   */
  touchEntry(low: number, high: number): number {
    const { index, bucketMask, slabWords, slabUnits } = this.memory;
    const bucket = (low & bucketMask) << CacheBucket.SHIFT;
    for (let slot = bucket; slot < bucket + CacheBucket.SLOTS; slot++) {
      if (index[slot] !== high) continue;
      const reference = index[slot + CacheBucket.REFERENCE_AT]!;
      if (reference === 0) continue;
      const word = ((((reference >>> 0) - 1) % slabUnits) * CACHE_UNIT) >>> 2;
      // If the slab ends with the first line, load only that line.
      const next = word + LINE_WORDS < slabWords.length ? word + LINE_WORDS : word;
      return (slabWords[word]! + slabWords[next]!) | 0;
    }
    return 0;
  }

  /** Results of `copyAnswer`, which `finish` uses. */
  private rcode = 0;
  private bodyEnd = 0;
  private isEnding = false;

  private keyMatches(entry: number, query: Query, partition: number, keyFlags: number): boolean {
    const { slab, slabHalves, slabWords } = this.memory;
    const half = entry >>> 1;
    if (slabHalves[half + (CacheEntry.QTYPE >>> 1)] !== query.qtype) return false;
    if (slabHalves[half + (CacheEntry.QCLASS >>> 1)] !== RRClass.IN || query.qclass !== RRClass.IN)
      return false;
    if (slabHalves[half + (CacheEntry.PARTITION >>> 1)] !== partition) return false;
    if (slab[entry + CacheEntry.KEY_FLAGS] !== keyFlags) return false;
    const length = query.qnameLength;
    if (slab[entry + CacheEntry.QNAME_LENGTH] !== length) return false;
    const { qnameWords } = query;
    const at = (entry + CacheEntry.QNAME) >>> 2;
    for (let i = 0; i << 2 < length; i++) if (slabWords[at + i] !== qnameWords[i]) return false;
    return true;
  }

  /**
   * Copies the body after the question and counts TTLs down. If the writer overwrites the entry during the copy, the
   * copy is garbage: every length is limited to the slot, and nothing is used before `answer` has checked TAIL.
   */
  private copyAnswer(entry: number, query: Query, nowSecs: number, allowStale: boolean): CacheHitCode {
    const { slab, slabWords, slabHalves } = this.memory;
    const word = entry >>> 2;
    const half = entry >>> 1;
    const stale = nowSecs >= slabWords[word + (CacheEntry.EXPIRES_AT_SECS >>> 2)]!;
    if (stale && (!allowStale || nowSecs >= slabWords[word + (CacheEntry.STALE_UNTIL_SECS >>> 2)]!))
      return CacheHit.NONE;
    this.isEnding = this.refreshes && this.endsSoon(word, nowSecs);
    const bodyLength = slabHalves[half + (CacheEntry.BODY_LENGTH >>> 1)]!;
    const ttlCount = slabHalves[half + (CacheEntry.TTL_COUNT >>> 1)]!;
    const ttlsHalf = half + (ttlOffsetsOffset(query.qnameLength) >>> 1);
    const { bytes, view } = query;
    const target = query.at + query.questionEnd;
    this.bodyEnd = query.questionEnd + bodyLength;
    this.readHead(entry, query);
    const hit = stale ? CacheHit.STALE : CacheHit.FRESH;
    // An answer that will be truncated need not be copied.
    if (this.bodyEnd + optSize(query) > replyLimit(query)) return hit;
    const body = (entry + bodyOffset(query.qnameLength, ttlCount)) >>> 2;
    // Copies whole words if the slot has space for up to three extra bytes; the OPT record overwrites the extra bytes,
    // or they are not sent.
    const words = hasRoom(query, this.bodyEnd, 3) ? (bodyLength + 3) >>> 2 : bodyLength >>> 2;
    for (let i = 0; i < words; i++) view.setInt32(target + (i << 2), slabWords[body + i]!, true);
    for (let i = words << 2; i < bodyLength; i++) bytes[target + i] = slab[(body << 2) + i]!;
    // The clocks of two threads differ by microseconds, which can round to a second: keep the age from becoming
    // negative.
    const ageSecs = Math.max(0, nowSecs - slabWords[word + (CacheEntry.STORED_AT_SECS >>> 2)]!);
    for (let i = 0; i < ttlCount; i++) {
      const offset = slabHalves[ttlsHalf + i]!;
      if (offset + 4 > bodyLength) return CacheHit.NONE;
      const ttlSecs = readU32(bytes, target + offset);
      // The TTL limit of a fresh negative answer also applies to a stale negative answer.
      const staleSecs = offset >= query.answersLength && ttlSecs < STALE_TTL_SECS ? ttlSecs : STALE_TTL_SECS;
      writeU32(bytes, target + offset, stale ? staleSecs : ttlSecs > ageSecs ? ttlSecs - ageSecs : 0);
    }
    return hit;
  }

  /** Copies the entry's metadata about its answer, without the records. */
  private readHead(entry: number, query: Query): void {
    const { slab, slabHalves } = this.memory;
    const half = entry >>> 1;
    this.rcode = slab[entry + CacheEntry.RCODE]!;
    query.answersCount = slabHalves[half + (CacheEntry.ANSWER_COUNT >>> 1)]!;
    query.authorityCount = slabHalves[half + (CacheEntry.AUTHORITY_COUNT >>> 1)]!;
    const marks = slab[entry + CacheEntry.MARKS]!;
    query.hasTargets = (marks & CacheMarks.HAS_TARGETS) !== 0;
    query.hasPrivateAddress = (marks & CacheMarks.HAS_PRIVATE_ADDRESS) !== 0;
    query.dnssec = slab[entry + CacheEntry.DNSSEC]! as DnssecStatusCode;
    query.extendedError = slab[entry + CacheEntry.EXTENDED_ERROR]! - 1;
    query.upstream = slabHalves[half + (CacheEntry.UPSTREAM >>> 1)]!;
    query.answersAt = query.questionEnd;
    query.answersLength = slabHalves[half + (CacheEntry.ANSWERS_LENGTH >>> 1)]!;
  }

  /**
   * Whether an entry is in the last tenth of its lifetime, or in its last two seconds; short-lived entries are not
   * refreshed.
   */
  private endsSoon(word: number, nowSecs: number): boolean {
    const { slabWords } = this.memory;
    const expiresAtSecs = slabWords[word + (CacheEntry.EXPIRES_AT_SECS >>> 2)]!;
    const lifeSecs = expiresAtSecs - slabWords[word + (CacheEntry.STORED_AT_SECS >>> 2)]!;
    const leftSecs = expiresAtSecs - nowSecs;
    return lifeSecs > SHORT_LIFE_SECS && (leftSecs <= LAST_SECS || leftSecs * 10 <= lifeSecs);
  }

  private finish(query: Query, hit: CacheHitCode): void {
    query.cached = 1;
    const isStale = hit === CacheHit.STALE;
    if (isStale) query.extendedError = ExtendedError.STALE_ANSWER;
    // Signatures may have expired since the answer was stored.
    query.replyFlags = isStale ? 0 : authenticFlag(query);
    finishReply(query, this.rcode, this.bodyEnd);
  }
}
