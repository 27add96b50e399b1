/**
 * Batches that currently cannot be written to the database. They are in the spool on disk; in a separate directory if
 * the database rejects them permanently; or in memory while the disk also fails. All operations on these files are
 * serialized. This module does not use the database.
 */
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { LogBatch } from './log-batch.ts';
import { LogSpool, type SpooledFile } from './log-spool.ts';
import type { LogTally } from './log-tally.ts';
import { storeRefused } from './refused-batches.ts';

export interface SpillOptions {
  /** Data directory; the spool is a subdirectory of it. */
  readonly dataDir: string;
  /** Resolves when this process may write the files; batches wait until then. */
  readonly mayWrite: Promise<void>;
  readonly maxSpoolBytes: number;
  readonly logger: Logger;
  readonly tally: LogTally;
}

/** Maximum bytes that wait in memory while the disk is full. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Maximum bytes in flight to a slow disk: the held batches, and batches that a lost database may not have stored. */
const MAX_SPILLING_BYTES = 2 * MAX_HELD_BYTES;
/** Name of the activity in messages. */
const SPOOL = 'could not write query log rows to the spool';

/** The spool, and the batches that wait for it. */
export class SpilledBatches {
  private readonly dir: string;
  private readonly spool: LogSpool;
  private readonly logger: Logger;
  private readonly tally: LogTally;
  /** Resolves when all file operations started so far have ended; the next operation waits for it. */
  private work: Promise<void>;
  private spillingBytes = 0;
  /** Batches that the disk did not accept. */
  private held: LogBatch[] = [];
  private isClosing = false;

  constructor({ dataDir, mayWrite, maxSpoolBytes, logger, tally }: SpillOptions) {
    this.dir = join(dataDir, 'spool');
    this.spool = new LogSpool(this.dir, maxSpoolBytes);
    this.logger = logger;
    this.tally = tally;
    this.work = mayWrite
      .then(() => this.spool.open())
      .catch((error: unknown) => {
        logger.error('could not open the query log spool', { reason: reasonOf(error) });
      });
  }

  get heldRows(): number {
    return this.held.reduce((sum, { rowCount }) => sum + rowCount, 0);
  }

  /** Resolves when all operations started so far have ended. */
  settled(): Promise<void> {
    return this.work;
  }

  /** From now on, a batch that cannot be written to disk is lost, because it will not be retried. */
  holdNoMore(): void {
    this.isClosing = true;
  }

  /** Returns the held batches, for the caller to retry. */
  takeHeld(): LogBatch[] {
    return this.held.splice(0);
  }

  /** Writes a batch to disk; then clears the recorded problem if `isTroubleOver` returns true. */
  spill(batch: LogBatch, isTroubleOver: () => boolean): void {
    if (this.spillingBytes > MAX_SPILLING_BYTES)
      return this.tally.drop(batch.rowCount, SPOOL, new Error('the disk is too slow'));
    this.spillingBytes += batch.bytes.length;
    void this.inTurn(SPOOL, async () => {
      try {
        const lostRows = await this.spool.add(batch);
        this.tally.spooled += batch.rowCount;
        if (isTroubleOver()) this.tally.trouble.end();
        if (lostRows > 0) this.tally.drop(lostRows, SPOOL, new Error('the spool is full'));
      } catch (error) {
        this.hold(batch, error);
      } finally {
        this.spillingBytes -= batch.bytes.length;
      }
    });
  }

  /** Saves rows that can never be stored, so that an administrator can inspect them. */
  storeRefused(batch: LogBatch, cause: unknown): void {
    void this.inTurn('could not save query log rows that the database refused', async () => {
      const { rowCount } = batch;
      try {
        const file = await storeRefused(join(this.dir, 'refused'), batch);
        this.tally.refused += rowCount;
        const fields = { rows: rowCount, file, reason: reasonOf(cause) };
        this.logger.error('the database refused query log rows; they are kept in a file', fields);
      } catch (error) {
        this.tally.drop(rowCount, 'could not save query log rows that the database refused', error);
      }
    });
  }

  /** The oldest file of the spool; undefined if there is none. */
  async oldest(action: string): Promise<SpooledFile | undefined> {
    let file: SpooledFile | undefined;
    await this.inTurn(action, async () => {
      file = await this.spool.oldest();
    });
    return file;
  }

  /** Deletes a file whose batches are stored. */
  remove(action: string, { name }: SpooledFile): Promise<void> {
    return this.inTurn(action, () => this.spool.remove(name));
  }

  /** Keeps a batch in memory that could not be written to disk, because the disk may be full only temporarily. */
  private hold(batch: LogBatch, cause: unknown): void {
    const heldBytes = this.held.reduce((sum, { bytes }) => sum + bytes.length, batch.bytes.length);
    if (this.isClosing || heldBytes > MAX_HELD_BYTES) return this.tally.drop(batch.rowCount, SPOOL, cause);
    this.held.push(batch);
    this.tally.trouble.begin(`${SPOOL}; they are kept in memory`, cause, { rows: batch.rowCount });
  }

  private inTurn(action: string, work: () => Promise<void>): Promise<void> {
    this.work = this.work.then(work).catch((error: unknown) => {
      this.logger.error(action, { reason: reasonOf(error) });
    });
    return this.work;
  }
}
