/**
 * Batches that the database has acknowledged but may still lose. The log is committed with `synchronous_commit` off: a
 * killed server loses what its WAL writer had not written, and a promoted standby lacks what had not been replicated.
 * So batches are kept for longer than either takes, and sent again; their sequence numbers prevent them from being
 * stored twice.
 */
import type { LogBatch } from './log-batch.ts';

/**
 * Three rounds of the WAL writer are 0.6 s; the rest is for a standby that lags behind. A failover can lose batches
 * that were acknowledged more than this before the last batch that the standby lacks.
 */
const KEPT_MS = 10_000;
/** Maximum bytes that are kept. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The last batches, oldest first. */
export class UnsettledBatches {
  private batches: { readonly batch: LogBatch; readonly storedMs: number }[] = [];
  private bytes = 0;
  private timeline = '';

  /**
   * Adds a batch that was just acknowledged on this timeline of the WAL. Returns the batches that were acknowledged on
   * another timeline: a server that took over, perhaps unnoticed behind a pooler, may not have them.
   */
  add(batch: LogBatch, timeline: string): LogBatch[] {
    const elsewhere = timeline === this.timeline ? [] : this.removeUnsettled();
    this.timeline = timeline;
    this.batches.push({ batch, storedMs: performance.now() });
    this.bytes += batch.bytes.length;
    this.removeSettled();
    return elsewhere;
  }

  /** Returns the batches that may have been lost if the server has died. */
  removeUnsettled(): LogBatch[] {
    const taken = this.batches.map(({ batch }) => batch);
    this.batches = [];
    this.bytes = 0;
    return taken;
  }

  /** Only a new acknowledgement proves older batches safe: time also passes while a server hangs. */
  private removeSettled(): void {
    const oldestMs = performance.now() - KEPT_MS;
    while (this.batches.length > 0 && (this.batches[0]!.storedMs < oldestMs || this.bytes > MAX_BYTES)) {
      const { batch } = this.batches.shift()!;
      this.bytes -= batch.bytes.length;
    }
  }
}
