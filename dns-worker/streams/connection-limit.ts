/** Counts open stream connections, per thread and per client address of the whole node, and enforces their limits. */
import type { ProtocolCode } from '../../shared/query-log.ts';
import { connectionBlocks, ConnectionTableLayout as L } from '../../shared/memory/connection-table.ts';
import { addressWord } from '../../shared/net/ip.ts';

const FACTOR = 0x9e3779b1 | 0;

/** The connections to which a limit applies, and the limit's values. */
export interface ConnectionLimitOptions {
  /** Counts of all threads, see `shared/memory/connection-table.ts`. */
  readonly table: SharedArrayBuffer;
  /** 0-based index of the thread's worker. */
  readonly worker: number;
  /** `Protocol` of the connections; each protocol has its own count. */
  readonly protocol: ProtocolCode;
  /** Maximum number per address on the whole node; 0 = unlimited. This value can change. */
  maxPerAddress: number;
  /** Maximum number for all addresses together, in this thread. */
  readonly max: number;
}

/** Counts the connections of one protocol. One per thread and protocol. */
export class ConnectionLimit {
  private readonly options: ConnectionLimitOptions;
  private readonly blocks: readonly Int32Array[];
  private readonly own: Int32Array;
  private readonly seed: number;
  /** The address that is being counted. */
  private readonly address = new Int32Array(4);
  private open = 0;

  constructor(options: ConnectionLimitOptions) {
    this.options = { ...options };
    this.blocks = connectionBlocks(options.table);
    this.own = this.blocks[options.worker]!;
    this.seed = new Int32Array(options.table)[L.SEED_WORD]!;
  }

  /** Whether no further connection is accepted from any address. */
  get isFull(): boolean {
    return this.open >= this.options.max;
  }

  /** Counts a connection from this address (16 bytes); false, without counting, if a limit is reached. */
  enter(address: Uint8Array): boolean {
    const { maxPerAddress } = this.options;
    if (this.isFull) return false;
    // Count connections even without a limit: a limit may be set before the connection ends.
    const first = this.assign(address);
    const slot = this.slotOf(first) ?? this.freeSlot(first);
    if (slot === null && maxPerAddress > 0) return false;
    // Count the connection before reading the other threads' counts: two threads may then both refuse a connection, but
    // never exceed the limit together.
    if (slot !== null) Atomics.add(this.own, slot + L.COUNT_AT, 1);
    if (slot !== null && maxPerAddress > 0 && this.total(first) > maxPerAddress) {
      Atomics.sub(this.own, slot + L.COUNT_AT, 1);
      return false;
    }
    this.open++;
    return true;
  }

  /** Sets a new limit per address; 0 = unlimited. Open connections stay open. */
  limitTo(maxPerAddress: number): void {
    this.options.maxPerAddress = maxPerAddress;
  }

  /** Releases the count of a connection. */
  leave(address: Uint8Array): void {
    this.open--;
    const slot = this.slotOf(this.assign(address));
    if (slot !== null) Atomics.sub(this.own, slot + L.COUNT_AT, 1);
  }

  /** Sets the current address; returns the index of its first slot. */
  private assign(address: Uint8Array): number {
    let hash = this.seed ^ this.options.protocol;
    for (let i = 0; i < 4; i++) {
      const word = addressWord(address, i * 4);
      this.address[i] = word;
      hash = Math.imul(hash ^ word, FACTOR);
      hash ^= hash >>> 15;
    }
    return hash & (L.SLOTS - 1);
  }

  /** Connections of the current address, of all workers. */
  private total(first: number): number {
    let sum = 0;
    for (const block of this.blocks)
      for (let probe = 0; probe < L.PROBES; probe++) {
        const slot = slotAt(first, probe);
        const count = Atomics.load(block, slot + L.COUNT_AT);
        if (count > 0 && this.isAt(block, slot)) sum += count;
      }
    return sum;
  }

  /** Word of this worker's slot with the current address; null if the address has no connection. */
  private slotOf(first: number): number | null {
    for (let probe = 0; probe < L.PROBES; probe++) {
      const slot = slotAt(first, probe);
      if (this.own[slot + L.COUNT_AT]! > 0 && this.isAt(this.own, slot)) return slot;
    }
    return null;
  }

  /** Word of a free slot that now has the current address; null if there is none. */
  private freeSlot(first: number): number | null {
    const own = this.own;
    for (let probe = 0; probe < L.PROBES; probe++) {
      const slot = slotAt(first, probe);
      if (own[slot + L.COUNT_AT] !== 0) continue;
      own[slot + L.PROTOCOL_AT] = this.options.protocol;
      for (let i = 0; i < 4; i++) own[slot + L.ADDRESS_AT + i] = this.address[i]!;
      return slot;
    }
    return null;
  }

  private isAt(block: Int32Array, slot: number): boolean {
    if (block[slot + L.PROTOCOL_AT] !== this.options.protocol) return false;
    for (let i = 0; i < 4; i++) if (block[slot + L.ADDRESS_AT + i] !== this.address[i]) return false;
    return true;
  }
}

/** Word of a slot within its block. */
function slotAt(first: number, probe: number): number {
  return ((first + probe) & (L.SLOTS - 1)) * L.SLOT_WORDS;
}
