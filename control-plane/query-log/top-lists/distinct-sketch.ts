/**
 * Estimates the number of distinct texts, of which not all can be kept: HyperLogLog (Flajolet 2007), 1.6 % error, 4
 * KiB.
 */
import { hashText } from './text-hash.ts';

/** Bytes of a sketch as it is stored. */
export const SKETCH_BYTES = 4096;
const INDEX_BITS = 12;
/** Hash key. It must never change and be the same on all nodes, because sketches are stored and merged. */
const KEY = Int32Array.of(0x57656972, 0x6e616d65);
const ALPHA = 0.7213 / (1 + 1.079 / SKETCH_BYTES);

/** A set of texts of which only the size is known. */
export class DistinctSketch {
  /** Longest run of zeros plus one that was seen, by the first bits of a hash. */
  readonly registers: Uint8Array;

  constructor(registers: Uint8Array = new Uint8Array(SKETCH_BYTES)) {
    if (registers.length !== SKETCH_BYTES) throw new RangeError(`read sketch: ${registers.length} bytes`);
    this.registers = registers;
  }

  add(source: Uint8Array, at: number, length: number): void {
    const hash = hashText(source, at, length, 0, KEY);
    const rank = Math.clz32((hash << INDEX_BITS) | (1 << (INDEX_BITS - 1))) + 1;
    const index = hash >>> (32 - INDEX_BITS);
    if (rank > this.registers[index]!) this.registers[index] = rank;
  }

  /** Adds all that the other has. */
  join(other: DistinctSketch): void {
    for (let i = 0; i < SKETCH_BYTES; i++) {
      if (other.registers[i]! > this.registers[i]!) this.registers[i] = other.registers[i]!;
    }
  }

  /** The estimate. */
  get size(): number {
    let sum = 0;
    let free = 0;
    for (const rank of this.registers) {
      sum += 2 ** -rank;
      if (rank === 0) free++;
    }
    const raw = (ALPHA * SKETCH_BYTES * SKETCH_BYTES) / sum;
    const isSmall = raw <= 2.5 * SKETCH_BYTES && free > 0;
    return Math.round(isSmall ? SKETCH_BYTES * Math.log(SKETCH_BYTES / free) : raw);
  }
}
