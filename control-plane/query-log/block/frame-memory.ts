/**
 * Memory for the frames of a block, used again for a later one. New memory for each block, 60 bytes a query, is what V8
 * collects its heap for. Pure.
 */

/** Part of the memory that must be in use for it to be kept. */
const LEAST_SHARE = 1 / 8;

/** Memory of one block at a time. */
export class FrameMemory {
  private bytes = new Uint8Array(0);
  /** Bytes taken since the last `clear()`; more than `bytes` holds if some were allocated separately. */
  private taken = 0;

  /** Zeros, for the caller alone until `clear()`. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const from = this.taken;
    this.taken += length;
    if (this.taken > this.bytes.length) return new Uint8Array(length);
    return this.bytes.subarray(from, this.taken).fill(0);
  }

  /** Takes everything back: there will be room for a quarter more than was taken. */
  clear(): void {
    const { bytes, taken } = this;
    if (taken > bytes.length || taken < bytes.length * LEAST_SHARE)
      this.bytes = new Uint8Array(taken + (taken >>> 2));
    this.taken = 0;
  }
}
