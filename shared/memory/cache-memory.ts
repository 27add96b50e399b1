/** Views of the answer cache's memory and the hash of its keys, shared by its readers and writers. */
import {
  CACHE_UNIT,
  CacheBucket,
  CacheEntry,
  CacheHead,
  CacheKeyFlags,
  positionLimit,
} from './answer-cache-layout.ts';

const TYPE_FACTOR = 0x9e3779b1 | 0;

/** Views of the cache's memory that reader and writer share. */
export class CacheMemory {
  readonly head: Int32Array;
  readonly index: Int32Array;
  readonly bucketMask: number;
  readonly slab: Uint8Array;
  readonly slabWords: Int32Array;
  readonly slabHalves: Uint16Array;
  readonly slabUnits: number;
  readonly positionLimit: number;

  constructor(buffer: SharedArrayBuffer) {
    this.head = new Int32Array(buffer, 0, CacheHead.BYTES >>> 2);
    const buckets = this.head[CacheHead.BUCKET_COUNT_WORD]!;
    this.slabUnits = this.head[CacheHead.SLAB_UNITS_WORD]!;
    this.positionLimit = positionLimit(this.slabUnits);
    this.bucketMask = buckets - 1;
    this.index = new Int32Array(buffer, CacheHead.BYTES, buckets * CacheBucket.WORDS);
    const slabAt = CacheHead.BYTES + buckets * CacheBucket.WORDS * 4;
    this.slab = new Uint8Array(buffer, slabAt, this.slabUnits * CACHE_UNIT);
    this.slabWords = new Int32Array(buffer, slabAt, (this.slabUnits * CACHE_UNIT) >>> 2);
    this.slabHalves = new Uint16Array(buffer, slabAt, (this.slabUnits * CACHE_UNIT) >>> 1);
  }
}

/** Number of units between two positions. */
export function unitsBetween(memory: CacheMemory, from: number, to: number): number {
  return to >= from ? to - from : to - from + memory.positionLimit;
}

/** Key bits of a query. */
export function keyFlagsOf(dnssecOk: boolean, checkingDisabled: boolean): number {
  return (dnssecOk ? CacheKeyFlags.DNSSEC_OK : 0) | (checkingDisabled ? CacheKeyFlags.CHECKING_DISABLED : 0);
}

/** Low lane of a key's hash: the low lane of the name, combined with the type and the key bits. */
export function keyHashLow(nameLow: number, qtype: number, keyFlags: number): number {
  const mixed = Math.imul(nameLow ^ (qtype << 2) ^ keyFlags, TYPE_FACTOR);
  return mixed ^ (mixed >>> 16);
}

/** Offset of the TTL offsets in an entry, in bytes. */
export function ttlOffsetsOffset(qnameLength: number): number {
  return (CacheEntry.QNAME + qnameLength + 3) & ~3;
}

/** Offset of the body in an entry, bytes. */
export function bodyOffset(qnameLength: number, ttlCount: number): number {
  return (ttlOffsetsOffset(qnameLength) + ttlCount * 2 + 3) & ~3;
}
