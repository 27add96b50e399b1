/**
 * Reusable memory for encoding batches. New memory for each would be 30 MB a second on a busy node, which would trigger
 * a full collection three times a second. It is shared memory, which the collector does not count, so that the slabs of
 * a sudden load do not trigger one either.
 */

/** Bytes of a slab: a full batch of ordinary rows. */
export const SLAB_BYTES = 2 * 1024 * 1024;

/** Slabs that are free, and which memory is a slab. */
export class BatchMemory {
  private readonly slabs = new WeakSet<ArrayBufferLike>();
  private readonly free: Buffer[] = [];
  /** Fewest free slabs since the last `shrink()`. */
  private fewestFree = 0;

  /** A free slab. Its old bytes remain. */
  take(): Buffer {
    const free = this.free.pop();
    this.fewestFree = Math.min(this.fewestFree, this.free.length);
    if (free !== undefined) return free;
    const slab = Buffer.from(new SharedArrayBuffer(SLAB_BYTES));
    this.slabs.add(slab.buffer);
    return slab;
  }

  /** Releases the slab of `bytes`, once; other memory is left to the collector. */
  giveBack(bytes: Buffer): void {
    if (this.slabs.has(bytes.buffer)) this.free.push(Buffer.from(bytes.buffer));
  }

  /** Frees the slabs that were not needed since the last call. */
  shrink(): void {
    this.free.splice(0, this.fewestFree);
    this.fewestFree = this.free.length;
  }
}
