/**
 * Records of queries that wait for an upstream (`shared/memory/miss-ring.ts`): the destination of the reply, and the
 * question. A record is first in the memory of the answer thread's first tries, or directly in the miss ring.
 */
import { MissFlags, MissRecord, NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import { LimitReason } from '../../shared/memory/answer-counters.ts';
import type { UdpBatch } from '../listeners/udp-batch.ts';
import type { Query } from '../query/query.ts';

/** Records in a buffer that start at an offset; positions are bytes from this offset. */
export class MissRecords {
  readonly bytes: Uint8Array;
  private readonly words: Int32Array;
  private readonly halves: Uint16Array;
  private readonly doubles: Float64Array;

  /** `from` is a multiple of 8. */
  constructor(buffer: ArrayBuffer | SharedArrayBuffer, from = 0) {
    this.bytes = new Uint8Array(buffer, from);
    this.words = new Int32Array(buffer, from);
    this.halves = new Uint16Array(buffer, from);
    this.doubles = new Float64Array(buffer, from);
  }

  /**
   * Writes the question of `query`, from `slot` of `batch`; `version` is the version of the snapshot whose policy was
   * applied.
   */
  write(at: number, query: Query, batch: UdpBatch, slot: number, version: number): void {
    const { bytes, words, halves } = this;
    this.doubles[(at + MissRecord.ARRIVED_MS) >>> 3] = query.arrivedMs;
    this.doubles[(at + MissRecord.ARRIVED_MONOTONIC_MS) >>> 3] = query.arrivedMonotonicMs;
    words[(at + MissRecord.SOCKET) >>> 2] = batch.socketIndex;
    words[(at + MissRecord.PASSED_VERSION) >>> 2] = query.aliasLength === 0 ? version : NOT_PASSED;
    halves[(at + MissRecord.UDP_SIZE) >>> 1] = query.hasEdns ? query.udpSize : 0;
    bytes[at + MissRecord.FLAGS] =
      (query.dnssecOk ? MissFlags.DNSSEC_OK : 0) |
      (query.limitedBy === LimitReason.QUESTIONS ? MissFlags.RATE_LIMITED : 0) |
      (query.wantsRefresh ? MissFlags.REFRESH : 0) |
      (query.cookieLength !== 0 ? MissFlags.COOKIE : 0) |
      (query.hasValidCookie ? MissFlags.VALID_COOKIE : 0);
    bytes[at + MissRecord.ECS_LENGTH] = query.ecsLength;
    copyBytes(query.ecs, 0, bytes, at + MissRecord.ECS, query.ecsLength);
    copyBytes(query.cookie, 0, bytes, at + MissRecord.COOKIE, query.cookieLength);
    halves[(at + MissRecord.MESSAGE_LENGTH) >>> 1] = query.questionEnd;
    copyBytes(query.clientBytes, query.clientAt, bytes, at + MissRecord.CLIENT, 16);
    batch.copyOrigin(slot, bytes, at);
    copyBytes(query.bytes, query.at, bytes, at + MissRecord.MESSAGE, query.questionEnd);
  }

  arrivedMs(at: number): number {
    return this.doubles[(at + MissRecord.ARRIVED_MS) >>> 3]!;
  }

  arrivedMonotonicMs(at: number): number {
    return this.doubles[(at + MissRecord.ARRIVED_MONOTONIC_MS) >>> 3]!;
  }

  socket(at: number): number {
    return this.words[(at + MissRecord.SOCKET) >>> 2]!;
  }

  passedVersion(at: number): number {
    return this.words[(at + MissRecord.PASSED_VERSION) >>> 2]!;
  }

  udpSize(at: number): number {
    return this.halves[(at + MissRecord.UDP_SIZE) >>> 1]!;
  }

  messageLength(at: number): number {
    return this.halves[(at + MissRecord.MESSAGE_LENGTH) >>> 1]!;
  }

  /** Whether any of these bits of `MissFlags` is set. */
  has(at: number, flags: number): boolean {
    return (this.bytes[at + MissRecord.FLAGS]! & flags) !== 0;
  }
}

/** Copies a few bytes; a loop is cheaper than a call. */
export function copyBytes(
  from: Uint8Array,
  fromAt: number,
  to: Uint8Array,
  toAt: number,
  length: number,
): void {
  for (let i = 0; i < length; i++) to[toAt + i] = from[fromAt + i]!;
}
