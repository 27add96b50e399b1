/**
 * The answer thread's end of the miss ring: writes unresolved queries and wakes the resolve thread. No client network
 * gets more than its fair share of the ring.
 */
import { WorkerControl } from '../../shared/threads/messages.ts';
import { MissRecord, MissRing } from '../../shared/memory/miss-ring.ts';
import type { UdpBatch } from '../listeners/udp-batch.ts';
import type { ClientNetworks } from '../policy/client-networks.ts';
import { isWithinShare } from '../policy/fair-share.ts';
import type { Query } from '../query/query.ts';
import { MissRecords } from './miss-records.ts';

/**
 * Networks are counted by hash: a network shares its count, and thus its maximum of 2,048 records, with one in 4,096
 * other networks.
 */
export const NETWORK_SLOTS = 4096;

/** The slot in which the client's network is counted. */
export function networkSlot(networks: ClientNetworks, query: Query): number {
  return networks.hash(query) & (NETWORK_SLOTS - 1);
}

/** Write side of a miss ring. */
export class MissWriter {
  private readonly ring: Int32Array;
  private readonly control: Int32Array;
  private readonly records: MissRecords;
  networks: ClientNetworks;
  /** For each record in the ring, the slot of its network; for each slot, the number of its records. */
  private readonly slots = new Uint16Array(MissRing.CAPACITY);
  private readonly held = new Uint16Array(NETWORK_SLOTS);
  private tail: number;
  private head: number;
  private published: number;

  constructor(buffer: SharedArrayBuffer, control: Int32Array, networks: ClientNetworks) {
    this.networks = networks;
    this.ring = new Int32Array(buffer, 0, MissRing.RECORDS_BYTE >>> 2);
    this.control = control;
    this.records = new MissRecords(buffer, MissRing.RECORDS_BYTE);
    this.head = Atomics.load(this.ring, MissRing.HEAD_WORD);
    this.published = this.head;
    // Records of a thread that died do not count for any network.
    this.tail = this.head;
  }

  /**
   * Copies the question and the destination of its reply; false if the ring, or the client's share of it, is full.
   * `version` is the version of the snapshot whose policy was applied.
   */
  write(query: Query, batch: UdpBatch, slot: number, version: number): boolean {
    const at = this.takePlace(networkSlot(this.networks, query));
    if (at < 0) return false;
    this.records.write(at, query, batch, slot, version);
    return true;
  }

  /** Same as `write`, for a record of a first try, with additional `MissFlags`; `network` is its `networkSlot`. */
  writeRecord(from: Uint8Array, fromAt: number, network: number, flags: number): boolean {
    const at = this.takePlace(network);
    if (at < 0) return false;
    const { bytes } = this.records;
    bytes.set(from.subarray(fromAt, fromAt + MissRecord.SIZE), at);
    bytes[at + MissRecord.FLAGS]! |= flags;
    return true;
  }

  /** Makes written records visible and wakes the resolve thread if it sleeps. */
  publish(): void {
    if (this.published === this.head) return;
    this.published = this.head;
    Atomics.store(this.ring, MissRing.HEAD_WORD, this.head);
    if (Atomics.exchange(this.control, WorkerControl.RESOLVE_ASLEEP_WORD, 0) === 1)
      Atomics.notify(this.ring, MissRing.HEAD_WORD);
  }

  /** The position of the next record in bytes; -1 = the network has used up its share, or the ring is full. */
  private takePlace(network: number): number {
    const taken = Atomics.load(this.ring, MissRing.TAIL_WORD);
    this.releaseRead(taken);
    if (!isWithinShare(this.held[network]!, (this.head - taken) | 0, MissRing.CAPACITY)) return -1;
    const place = this.head & (MissRing.CAPACITY - 1);
    this.slots[place] = network;
    this.held[network]!++;
    this.head = (this.head + 1) | 0;
    return place * MissRecord.SIZE;
  }

  /** Subtracts the records before `taken` from the counts of their networks. */
  private releaseRead(taken: number): void {
    for (; ((taken - this.tail) | 0) > 0; this.tail = (this.tail + 1) | 0)
      this.held[this.slots[this.tail & (MissRing.CAPACITY - 1)]!]!--;
  }
}
