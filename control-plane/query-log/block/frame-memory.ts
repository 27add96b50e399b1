/**
 * Memory for the frames of a block, reused for later blocks. Without it, the new memory for each block, 60 bytes per
 * query, would make V8 collect its heap. Pure.
 */

/** Share of the memory that must be in use for it to be kept. */
const MIN_SHARE = 1 / 8;

/** Memory of one block at a time. */
export class FrameMemory {
  private bytes = new Uint8Array(0);
  /** Bytes taken since the last `clear()`; more than the size of `bytes` if some were allocated separately. */
  private taken = 0;

  /** Zeroed memory, exclusively for the caller until `clear()`. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const from = this.taken;
    this.taken += length;
    if (this.taken > this.bytes.length) return new Uint8Array(length);
    return this.bytes.subarray(from, this.taken).fill(0);
  }

  /** Releases everything, and then has space for a quarter more than was taken. */
  clear(): void {
    const { bytes, taken } = this;
    if (taken > bytes.length || taken < bytes.length * MIN_SHARE)
      this.bytes = new Uint8Array(taken + (taken >>> 2));
    this.taken = 0;
  }
}
