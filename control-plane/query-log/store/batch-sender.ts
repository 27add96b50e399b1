/**
 * Sends batches to the database, one at a time, and the content of the spool when there are no other batches; batches
 * that the database does not accept go to the spool. The sender does not read the content of a batch.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../shared/log.ts';
import type { Database } from '../../storage/db/database.ts';
import { DatabaseUnavailable, isDataError } from '../../storage/db/database-errors.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import {
  type BlockDatabase,
  OverlappingBlock,
  type OwnRun,
  storeBlock,
  type StoredBlock,
} from './block-store.ts';
import type { LogBatch } from './log-batch.ts';
import type { LogTally } from './log-tally.ts';
import { SendPause } from './send-pause.ts';
import type { SpilledBatches } from './spilled-batches.ts';
import { UnsettledBatches } from './unsettled-batches.ts';

export interface SenderOptions {
  readonly database: BlockDatabase | Database;
  readonly nodeId: number;
  /** Whether rows may be stored on behalf of this node. */
  readonly mayStore: () => boolean;
  readonly spilled: SpilledBatches;
  readonly tally: LogTally;
  readonly logger: Logger;
  /**
   * The main run whose batches are added, together with the batches of its secondary runs. Its database id is assigned
   * here.
   */
  readonly run: OwnRun;
  /** The next sequence number of the main run. */
  readonly nextSeq: () => number;
}

interface WaitingBatch extends LogBatch {
  /** `performance.now()` when the batch arrived. */
  readonly sinceMs: number;
}

/** Names of the activities in messages. */
const REPLAY = 'could not store query log rows from the spool';
const STORE = 'could not store query log rows';

/** The batches on their way to the database. */
export class BatchSender {
  private readonly options: SenderOptions;
  private readonly queue: WaitingBatch[] = [];
  private readonly unsettled = new UnsettledBatches();
  /** Ids of the batches from the spool file being sent that are already counted. */
  private readonly replayed = new Set<string>();
  private readonly sendPause = new SendPause();
  private readonly stopListening: () => void;
  private sending: WaitingBatch | undefined;
  private pump: Promise<void> | undefined;
  private isClosing = false;

  constructor(options: SenderOptions) {
    this.options = options;
    this.stopListening = options.database.onStatus(({ state }) => {
      if (state !== 'up') this.spoolUnsettled();
      this.sendPause.end();
      this.wake();
    });
  }

  /** Rows that are waiting or in flight. */
  get rowCount(): number {
    return this.queue.reduce((sum, { rowCount }) => sum + rowCount, this.sending?.rowCount ?? 0);
  }

  add(batch: LogBatch): void {
    this.queue.push({ ...batch, sinceMs: performance.now() });
    this.wake();
  }

  wake(): void {
    this.pump ??= this.send();
  }

  /** Spills batches that have waited for longer than this. */
  spillOld(maxWaitMs: number): void {
    const oldestMs = performance.now() - maxWaitMs;
    while (this.queue[0] !== undefined && this.queue[0].sinceMs < oldestMs) this.spill(this.queue.shift()!);
  }

  /** Resolves when nothing is left to send. */
  async settled(): Promise<void> {
    while (this.pump !== undefined) await this.pump;
  }

  /** From now on, only sends the batches in memory, nothing from the spool. */
  finish(): void {
    this.isClosing = true;
    this.stopListening();
  }

  /**
   * Sends as many batches as possible in this time and writes the rest to the spool, including batches that could not
   * be written earlier.
   */
  async close(withinMs: number): Promise<void> {
    this.finish();
    const inTime = new AbortController();
    const late = sleep(withinMs, undefined, { signal: inTime.signal }).catch(() => undefined);
    await Promise.race([this.pump, late]);
    inTime.abort();
    // A database that does not respond may have lost the last batches that it acknowledged.
    if (this.sending || this.options.database.status().state !== 'up') this.spoolUnsettled();
    // The batch in flight may also reach the database; its sequence numbers prevent it from being stored twice.
    if (this.sending) this.spill(this.sending);
    for (const batch of [...this.options.spilled.takeHeld(), ...this.queue.splice(0)]) this.spill(batch);
  }

  /** Sends all batches, then the batches in the spool. */
  private async send(): Promise<void> {
    await Promise.resolve(); // Ensures that `pump` is set before the code below runs.
    try {
      while (this.options.mayStore() && !this.sendPause.isOn()) {
        const batch = this.queue.shift();
        if (batch !== undefined) await this.sendOne(batch);
        // The queue is checked again: a batch may have arrived while the spool was read, and did not start another
        // `send()`.
        else if (this.isClosing || (!(await this.replayOne()) && this.queue.length === 0)) return;
      }
    } finally {
      this.pump = undefined;
    }
  }

  private async sendOne(batch: WaitingBatch): Promise<void> {
    const { database, nodeId, spilled, run, nextSeq } = this.options;
    this.sending = batch;
    try {
      const isOfRun = batch.id.startsWith(`${run.key}.`);
      const how = { nodeId, durable: false, ...(isOfRun ? { nextSeq: nextSeq() } : {}) };
      const stored = await storeBlock(database, batch, how);
      if (isOfRun) run.id = stored.runId;
      this.accepted();
      this.keep(batch, stored);
    } catch (error) {
      if (isRefusal(error)) spilled.storeRefused(batch, error);
      else {
        if (!(error instanceof DatabaseUnavailable)) this.pause(STORE, error, batch);
        this.spill(batch);
      }
    } finally {
      this.sending = undefined;
    }
  }

  /** Sends the oldest file of the spool; false if there is none or the database is unavailable. */
  private async replayOne(): Promise<boolean> {
    const { database, spilled, logger } = this.options;
    if (database.status().state !== 'up') return false;
    const file = await spilled.oldest(REPLAY);
    if (file === undefined) return false;
    for (const batch of file.batches) if (!(await this.replay(batch))) return false;
    if (file.isDamaged)
      logger.error('a file of the query log spool is damaged; its unreadable rows are lost', {
        file: file.name,
      });
    await spilled.remove(REPLAY, file);
    this.replayed.clear();
    return true;
  }

  /** False if the database became unavailable again, so that the batch stays in the spool. */
  private async replay(batch: LogBatch): Promise<boolean> {
    const { database, nodeId, spilled } = this.options;
    try {
      const stored = await storeBlock(database, batch, { nodeId, durable: true });
      this.accepted();
      // If some batches of a file could not be sent, the whole file is sent again, so a batch may already be counted.
      if (!this.replayed.has(batch.id)) this.keep(batch, stored);
      this.replayed.add(batch.id);
      return true;
    } catch (error) {
      if (!isRefusal(error)) {
        if (!(error instanceof DatabaseUnavailable)) this.pause(REPLAY, error, batch);
        return false;
      }
      spilled.storeRefused(batch, error);
      return true;
    }
  }

  private accepted(): void {
    this.options.tally.trouble.end();
    this.sendPause.end();
  }

  /** Counts a stored batch, and keeps it in case the database loses it. */
  private keep(batch: LogBatch, { timeline }: StoredBlock): void {
    const { tally, logger } = this.options;
    tally.written += batch.rowCount;
    const elsewhere = this.unsettled.add(batch, timeline);
    if (elsewhere.length === 0) return;
    logger.info('the database was replaced; sending the latest query log rows again', {
      batches: elsewhere.length,
      timeline,
    });
    const sinceMs = performance.now();
    this.queue.unshift(...elsewhere.map((before) => ({ ...before, sinceMs })));
    for (const { rowCount } of elsewhere) tally.written -= rowCount;
  }

  /** The database is up but rejects valid rows, so sending pauses. */
  private pause(action: string, cause: unknown, { rowCount }: LogBatch): void {
    const fields = { rows: rowCount, after_ms: this.sendPause.begin() };
    this.options.tally.trouble.begin(`${action}; retrying later`, cause, fields);
  }

  private spill(batch: LogBatch): void {
    this.options.spilled.spill(batch, () => !this.sendPause.isOn());
  }

  /** Sends again the batches that a lost database may not have written to disk. */
  private spoolUnsettled(): void {
    for (const batch of this.unsettled.removeUnsettled()) {
      this.options.tally.written -= batch.rowCount;
      this.spill(batch);
    }
  }
}

/** Whether the database will never accept the block, however often it is sent. */
function isRefusal(error: unknown): boolean {
  return isDataError(error) || error instanceof DamagedBlock || error instanceof OverlappingBlock;
}
