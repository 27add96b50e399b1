/**
 * The answer thread's end of the miss ring: writes unresolved queries and wakes the resolve thread. No client network
 * takes more of the ring than its fair share.
 */
import { WorkerControl } from '../../shared/threads/messages.ts';
import { LimitReason } from '../../shared/memory/answer-counters.ts';
import { MissFlags, MissRecord, MissRing, NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import type { UdpBatch } from '../listeners/udp-batch.ts';
import type { ClientNetworks } from '../policy/client-networks.ts';
import { isWithinShare } from '../policy/fair-share.ts';
import type { Query } from '../query/query.ts';

/** Networks are counted by hash: with 2,048 records of one network at most, one in 4,096 others shares its count. */
const NETWORK_SLOTS = 4096;

/** Write side of a miss ring. */
export class MissWriter {
  private readonly ring: Int32Array;
  private readonly control: Int32Array;
  private readonly bytes: Uint8Array;
  private readonly words: Int32Array;
  private readonly halves: Uint16Array;
  private readonly doubles: Float64Array;
  networks: ClientNetworks;
  /** Of each record in the ring, the slot of its network; and of each slot, how many records there are. */
  private readonly slots = new Uint16Array(MissRing.CAPACITY);
  private readonly held = new Uint16Array(NETWORK_SLOTS);
  private tail: number;
  private head: number;
  private published: number;

  constructor(buffer: SharedArrayBuffer, control: Int32Array, networks: ClientNetworks) {
    this.networks = networks;
    this.ring = new Int32Array(buffer, 0, MissRing.RECORDS_BYTE >>> 2);
    this.control = control;
    this.bytes = new Uint8Array(buffer, MissRing.RECORDS_BYTE);
    this.words = new Int32Array(buffer, MissRing.RECORDS_BYTE);
    this.halves = new Uint16Array(buffer, MissRing.RECORDS_BYTE);
    this.doubles = new Float64Array(buffer, MissRing.RECORDS_BYTE);
    this.head = Atomics.load(this.ring, MissRing.HEAD_WORD);
    this.published = this.head;
    // Records of a dead predecessor count for no network.
    this.tail = this.head;
  }

  /**
   * Copies the question and where its reply goes; false if the ring is full, or its client's share of it. `version` is
   * that of the snapshot that has decided about it.
   */
  write(query: Query, batch: UdpBatch, slot: number, version: number): boolean {
    const taken = Atomics.load(this.ring, MissRing.TAIL_WORD);
    this.forgetTaken(taken);
    const network = this.networks.hash(query) & (NETWORK_SLOTS - 1);
    if (!isWithinShare(this.held[network]!, (this.head - taken) | 0, MissRing.CAPACITY)) return false;
    const place = this.head & (MissRing.CAPACITY - 1);
    this.slots[place] = network;
    this.held[network]!++;
    const at = place * MissRecord.SIZE;
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
    copy(query.ecs, 0, bytes, at + MissRecord.ECS, query.ecsLength);
    copy(query.cookie, 0, bytes, at + MissRecord.COOKIE, query.cookieLength);
    halves[(at + MissRecord.MESSAGE_LENGTH) >>> 1] = query.questionEnd;
    copy(query.clientBytes, query.clientAt, bytes, at + MissRecord.CLIENT, 16);
    batch.copyOrigin(slot, bytes, at);
    copy(query.bytes, query.at, bytes, at + MissRecord.MESSAGE, query.questionEnd);
    this.head = (this.head + 1) | 0;
    return true;
  }

  /** Takes the records before `taken` off their networks' counts. */
  private forgetTaken(taken: number): void {
    for (; ((taken - this.tail) | 0) > 0; this.tail = (this.tail + 1) | 0)
      this.held[this.slots[this.tail & (MissRing.CAPACITY - 1)]!]!--;
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
