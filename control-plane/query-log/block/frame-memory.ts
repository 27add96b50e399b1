/**
 * Memory for the frames of a block, reused for later blocks. Without reuse, allocating 60 bytes per query for each
 * block would make V8 collect garbage often. Pure.
 */

/** The memory is replaced by less if a block used less than this share of it. */
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

  /**
   * Releases all memory taken. If the memory was too small or far too large, replaces it with a quarter more than was
   * taken.
   */
  clear(): void {
    const { bytes, taken } = this;
    if (taken > bytes.length || taken < bytes.length * MIN_SHARE)
      this.bytes = new Uint8Array(taken + (taken >>> 2));
    this.taken = 0;
  }
}
