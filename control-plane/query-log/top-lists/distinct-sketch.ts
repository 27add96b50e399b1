/**
 * Estimates the number of distinct strings when not all of them can be kept: HyperLogLog (Flajolet 2007), 1.6 % error,
 * 4 KiB.
 */
import { hashText } from './text-hash.ts';

/** Size of a stored sketch in bytes. */
export const SKETCH_BYTES = 4096;
const INDEX_BITS = 12;
/** Hash key. It must never change and must be the same on all nodes, because sketches are stored and merged. */
const KEY = Int32Array.of(0x57656972, 0x6e616d65);
const ALPHA = 0.7213 / (1 + 1.079 / SKETCH_BYTES);

/** A set of strings of which only the size is estimated. */
export class DistinctSketch {
  /**
   * For each value of the hash's first bits: the length of the longest run of zeros in the remaining bits of any hash,
   * plus one.
   */
  readonly registers: Uint8Array;

  constructor(registers: Uint8Array = new Uint8Array(SKETCH_BYTES)) {
    if (registers.length !== SKETCH_BYTES)
      throw new RangeError(`could not read a sketch: it has ${registers.length} bytes`);
    this.registers = registers;
  }

  add(source: Uint8Array, at: number, length: number): void {
    const hash = hashText(source, at, length, 0, KEY);
    const rank = Math.clz32((hash << INDEX_BITS) | (1 << (INDEX_BITS - 1))) + 1;
    const index = hash >>> (32 - INDEX_BITS);
    if (rank > this.registers[index]!) this.registers[index] = rank;
  }

  /** Adds all strings of another sketch. */
  join(other: DistinctSketch): void {
    for (let i = 0; i < SKETCH_BYTES; i++) {
      if (other.registers[i]! > this.registers[i]!) this.registers[i] = other.registers[i]!;
    }
  }

  /** The estimated number of strings. */
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
