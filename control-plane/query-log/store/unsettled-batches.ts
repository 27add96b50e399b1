/**
 * Batches that the database has acknowledged but may not have on its disk yet: the log is committed with
 * `synchronous_commit` off, and a server that is killed forgets what its WAL writer had not written. They are
 * kept for a moment longer than that takes, so that they can be sent again; their numbers keep them from being
 * stored twice.
 */
import type { LogBatch } from './log-batch.ts';

/** Three rounds of the WAL writer are 0.6 s; the rest is for noticing that the server is gone. */
const KEPT_MS = 2000;
/** Most bytes that are kept for it. */
const MAX_BYTES = 32 * 1024 * 1024;

/** The last batches, oldest first. */
export class UnsettledBatches {
  private batches: { readonly batch: LogBatch; readonly storedMs: number }[] = [];
  private bytes = 0;

  /** Adds a batch that was just acknowledged. */
  add(batch: LogBatch): void {
    this.batches.push({ batch, storedMs: performance.now() });
    this.bytes += batch.bytes.length;
    this.forget();
  }

  /** Drops batches that are safe by now. */
  forget(): void {
    const oldestMs = performance.now() - KEPT_MS;
    while (this.batches.length > 0 && (this.batches[0]!.storedMs < oldestMs || this.bytes > MAX_BYTES)) {
      const { batch } = this.batches.shift()!;
      this.bytes -= batch.bytes.length;
    }
  }

  /** Returns the batches that a server that dies now may have lost. */
  takeBack(): LogBatch[] {
    this.forget();
    const taken = this.batches.map(({ batch }) => batch);
    this.batches = [];
    this.bytes = 0;
    return taken;
  }
}
