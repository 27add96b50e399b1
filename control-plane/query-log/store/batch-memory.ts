/**
 * The memory that batches are encoded into, used again. New memory for each would be 30 MB a second on a busy
 * node, and the garbage collector answers that with a collection of the whole heap three times a second. It
 * is shared memory, which the collector does not count, so that the slabs of a sudden load do not cause that
 * either.
 */

/** Bytes of a slab: a full batch of ordinary rows. */
export const SLAB_BYTES = 2 * 1024 * 1024;

/** Slabs that are free, and which memory is a slab. */
export class BatchMemory {
  private readonly slabs = new WeakSet<ArrayBufferLike>();
  private readonly free: Buffer[] = [];
  /** Fewest free slabs since the last `shrink()`. */
  private fewestFree = 0;

  /** A slab that no one uses. Its bytes are what was there before. */
  take(): Buffer {
    const free = this.free.pop();
    this.fewestFree = Math.min(this.fewestFree, this.free.length);
    if (free !== undefined) return free;
    const slab = Buffer.from(new SharedArrayBuffer(SLAB_BYTES));
    this.slabs.add(slab.buffer);
    return slab;
  }

  /** Takes back the slab that `bytes` lie in, once; memory from elsewhere is left to the collector. */
  giveBack(bytes: Buffer): void {
    if (this.slabs.has(bytes.buffer)) this.free.push(Buffer.from(bytes.buffer));
  }

  /** Lets go of the slabs that were not needed since the last call. */
  shrink(): void {
    this.free.splice(0, this.fewestFree);
    this.fewestFree = this.free.length;
  }
}
