/** The answer thread's end of the miss ring: hands over what it cannot answer and wakes the resolve thread. */
import { WorkerControl } from '../shared/messages.ts';
import { MissFlags, MissRecord, MissRing } from '../shared/miss-ring.ts';
import type { UdpBatch } from './listeners/udp-batch.ts';
import type { Query } from './query.ts';

/** Write side of a miss ring. */
export class MissWriter {
  private readonly ring: Int32Array;
  private readonly control: Int32Array;
  private readonly bytes: Uint8Array;
  private readonly words: Int32Array;
  private readonly halves: Uint16Array;
  private readonly doubles: Float64Array;
  private head: number;
  private published: number;

  constructor(buffer: SharedArrayBuffer, control: Int32Array) {
    this.ring = new Int32Array(buffer, 0, MissRing.RECORDS_BYTE >>> 2);
    this.control = control;
    this.bytes = new Uint8Array(buffer, MissRing.RECORDS_BYTE);
    this.words = new Int32Array(buffer, MissRing.RECORDS_BYTE);
    this.halves = new Uint16Array(buffer, MissRing.RECORDS_BYTE);
    this.doubles = new Float64Array(buffer, MissRing.RECORDS_BYTE);
    this.head = Atomics.load(this.ring, MissRing.HEAD_WORD);
    this.published = this.head;
  }

  /** Copies the question and where its reply goes; false where the ring is full. */
  write(query: Query, batch: UdpBatch, slot: number): boolean {
    if (((this.head - Atomics.load(this.ring, MissRing.TAIL_WORD)) | 0) >= MissRing.CAPACITY) return false;
    const at = (this.head & (MissRing.CAPACITY - 1)) * MissRecord.SIZE;
    const { bytes, words, halves } = this;
    this.doubles[(at + MissRecord.ARRIVED_MS) >>> 3] = query.arrivedMs;
    this.doubles[(at + MissRecord.ARRIVED_MONOTONIC_MS) >>> 3] = query.arrivedMonotonicMs;
    words[(at + MissRecord.SOCKET) >>> 2] = batch.socketIndex;
    halves[(at + MissRecord.UDP_SIZE) >>> 1] = query.hasEdns ? query.udpSize : 0;
    bytes[at + MissRecord.FLAGS] =
      (query.dnssecOk ? MissFlags.DNSSEC_OK : 0) |
      (query.isRateLimited ? MissFlags.RATE_LIMITED : 0) |
      (query.wantsRefresh ? MissFlags.REFRESH : 0) |
      (query.cookieLength !== 0 ? MissFlags.COOKIE : 0) |
      (query.hasValidCookie ? MissFlags.VALID_COOKIE : 0);
    bytes[at + MissRecord.SUBNET_LENGTH] = query.subnetLength;
    copy(query.subnet, 0, bytes, at + MissRecord.SUBNET, query.subnetLength);
    copy(query.cookie, 0, bytes, at + MissRecord.COOKIE, query.cookieLength);
    halves[(at + MissRecord.MESSAGE_LENGTH) >>> 1] = query.questionEnd;
    copy(query.clientBytes, query.clientAt, bytes, at + MissRecord.CLIENT, 16);
    batch.copyOrigin(slot, bytes, at);
    copy(query.bytes, query.at, bytes, at + MissRecord.MESSAGE, query.questionEnd);
    this.head = (this.head + 1) | 0;
    return true;
  }

  /** Makes what was written visible and wakes the resolve thread if it sleeps. */
  publish(): void {
    if (this.published === this.head) return;
    this.published = this.head;
    Atomics.store(this.ring, MissRing.HEAD_WORD, this.head);
    if (Atomics.exchange(this.control, WorkerControl.RESOLVE_ASLEEP_WORD, 0) === 1)
      Atomics.notify(this.ring, MissRing.HEAD_WORD);
  }
}

function copy(from: Uint8Array, fromAt: number, to: Uint8Array, toAt: number, length: number): void {
  for (let i = 0; i < length; i++) to[toAt + i] = from[fromAt + i]!;
}
