/**
 * Batches that the database has acknowledged but may still lose. The log is committed with `synchronous_commit` off: a
 * server that is killed loses data that its WAL writer had not written yet, and a promoted standby lacks data that had
 * not been replicated. Batches are therefore kept for longer than the WAL writer and replication usually need, and are
 * sent again if the server fails; their sequence numbers prevent them from being stored twice.
 */
import type { LogBatch } from './log-batch.ts';

/**
 * The WAL writer needs at most three rounds, 0.6 s; the rest is for a standby that lags behind. If a standby lags by
 * more than this, a failover can lose batches.
 */
const KEPT_MS = 10_000;
/** Maximum bytes that are kept. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The batches that were acknowledged last, oldest first. */
export class UnsettledBatches {
  private batches: { readonly batch: LogBatch; readonly storedMs: number }[] = [];
  private bytes = 0;
  private timeline = '';

  /**
   * Adds a batch that was just acknowledged on this timeline of the WAL. Returns the batches that were acknowledged on
   * another timeline: a server that was promoted, perhaps unnoticed behind a connection pooler, may not have them.
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

  /**
   * Called only after a new acknowledgement, which shows that the server is alive: while a server hangs, the age of a
   * batch does not mean that it is safe.
   */
  private removeSettled(): void {
    const oldestMs = performance.now() - KEPT_MS;
    while (this.batches.length > 0 && (this.batches[0]!.storedMs < oldestMs || this.bytes > MAX_BYTES)) {
      const { batch } = this.batches.shift()!;
      this.bytes -= batch.bytes.length;
    }
  }
}
