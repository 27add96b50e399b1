/**
 * Records that the resolve threads of a node share, such as zones whose keys a thread has proven; answer threads also
 * read the records. Each resolve thread appends to its own ring; one index of positions covers all rings. There are no
 * locks. Each record has a seal, a MAC with a secret of the node; the seal does not match if the record was overwritten
 * or is being written, even if an attacker chose some of the bytes. The seal also covers a context, so that threads
 * read only records that were written with the same settings.
 */
import { hash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
/**
 * Offset of the start of the next record of each ring; then the index: 0 = empty, or 1 + the position of a record in
 * units.
 */
const ENDS_AT = SECRET_BYTES;
const INDEX_WORDS = 16_384;
const RING_BYTES = 262_144;
/** Records start at multiples of this many bytes. */
const UNIT = 8;
/** Layout of a record: number of content bytes (u16), seal, content. */
const SEAL_AT = 2;
const SEAL_BYTES = 16;
const HEAD_BYTES = SEAL_AT + SEAL_BYTES;
/** Maximum size of the content; longer content is not shared. */
const MAX_BYTES = 4096;
const HASH_FACTOR = 0x9e3779b1 | 0;

/** Creates empty memory for this many workers; it is allocated as it is written. */
export function createSealedRecords(workers: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(ringsAt(workers) + workers * RING_BYTES);
  new Uint8Array(buffer).set(randomBytes(SECRET_BYTES));
  return buffer;
}

/** The records of all threads, as one thread reads and writes them. */
export class SealedRecords {
  private readonly ends: Int32Array;
  private readonly index: Int32Array;
  private readonly rings: Uint8Array;
  private readonly worker: number;
  private readonly sealKey: Uint8Array;

  /**
   * `context`: threads with a different context cannot find this thread's records, and this thread cannot find theirs.
   */
  constructor(memory: SharedArrayBuffer, worker: number, context: Uint8Array) {
    const workers = workersOf(memory);
    const secret = new Uint8Array(memory, 0, SECRET_BYTES).slice();
    this.ends = new Int32Array(memory, ENDS_AT, workers);
    this.index = new Int32Array(memory, ENDS_AT + workers * 4, INDEX_WORDS);
    this.rings = new Uint8Array(memory, ringsAt(workers));
    this.worker = worker;
    this.sealKey = hash('sha256', Buffer.concat([secret, context]), 'buffer');
  }

  /** Shares content under a name in wire form until it is overwritten. */
  keep(name: Uint8Array, content: Uint8Array): void {
    if (content.length > MAX_BYTES) return;
    const { rings, ends, index, worker } = this;
    const size = HEAD_BYTES + content.length;
    const end = ends[worker]!;
    const from = end + size > RING_BYTES ? 0 : end;
    const at = worker * RING_BYTES + from;
    rings[at] = content.length >>> 8;
    rings[at + 1] = content.length;
    rings.set(this.sealOf(name, content), at + SEAL_AT);
    rings.set(content, at + HEAD_BYTES);
    ends[worker] = Math.ceil((from + size) / UNIT) * UNIT;
    Atomics.store(index, this.wordOf(name), 1 + at / UNIT);
  }

  /** A copy of the last content shared under the name; null = none, or the content was overwritten. */
  find(name: Uint8Array): Uint8Array | null {
    const { rings, index } = this;
    const place = Atomics.load(index, this.wordOf(name));
    if (place === 0) return null;
    const at = (place - 1) * UNIT;
    const length = (rings[at]! << 8) | rings[at + 1]!;
    if (length > MAX_BYTES) return null;
    const seal = rings.slice(at + SEAL_AT, at + HEAD_BYTES);
    const content = rings.slice(at + HEAD_BYTES, at + HEAD_BYTES + length);
    return Buffer.compare(seal, this.sealOf(name, content)) === 0 ? content : null;
  }

  /** A name in wire form ends with a zero, so the boundary between name and content is unambiguous. */
  private sealOf(name: Uint8Array, content: Uint8Array): Uint8Array {
    return hash('sha256', Buffer.concat([this.sealKey, name, content]), 'buffer').subarray(0, SEAL_BYTES);
  }

  private wordOf(name: Uint8Array): number {
    let mixed = this.sealKey[0]! | (this.sealKey[1]! << 8) | (this.sealKey[2]! << 16);
    for (let i = 0; i < name.length; i++) {
      mixed = Math.imul(mixed ^ name[i]!, HASH_FACTOR);
      mixed ^= mixed >>> 15;
    }
    return mixed & (INDEX_WORDS - 1);
  }
}

function ringsAt(workers: number): number {
  return Math.ceil((ENDS_AT + (workers + INDEX_WORDS) * 4) / UNIT) * UNIT;
}

function workersOf(memory: SharedArrayBuffer): number {
  return Math.floor((memory.byteLength - ringsAt(0)) / RING_BYTES);
}
