/**
 * Compresses sealed blocks one after another. Separate from gathering, because compression takes much longer than
 * gathering the rows.
 */
import { type SealedBlock, toBatch } from './block-gatherer.ts';
import type { LogBatch } from './log-batch.ts';

/** Destination of blocks. */
export interface CompressionListener {
  readonly compressed: (batch: LogBatch) => void;
  readonly failed: (rowCount: number, cause: unknown) => void;
}

/** Blocks that are being compressed. */
export class BlockCompression {
  private readonly listener: CompressionListener;
  private work: Promise<void> = Promise.resolve();
  private rows = 0;

  constructor(listener: CompressionListener) {
    this.listener = listener;
  }

  /** Number of rows in these blocks. */
  get rowCount(): number {
    return this.rows;
  }

  /** Adds a block; batches are emitted in the order in which their blocks were added. */
  add(sealed: SealedBlock): void {
    const { rowCount } = sealed.block;
    this.rows += rowCount;
    this.work = this.work
      .then(async () => this.listener.compressed(await toBatch(sealed.runKey, sealed)))
      .catch((error: unknown) => this.listener.failed(rowCount, error))
      .finally(() => {
        this.rows -= rowCount;
      });
  }

  /** Resolves when every block added so far is compressed. */
  settled(): Promise<void> {
    return this.work;
  }
}
