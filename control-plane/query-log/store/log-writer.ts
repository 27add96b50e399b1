/**
 * The way of a log row into the database: encoded at once, sent in batches, spooled to disk while the
 * database is away and sent from there when it is back. Answering never waits for any of it. A kill of
 * Weir loses what is gathered here and not yet sent, about one second; a kill of the database or a full disk
 * loses nothing. Everything is bounded, and what is beyond a bound is dropped and counted.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../shared/log.ts';
import type { Database } from '../../db/database.ts';
import { DatabaseUnavailable, isDataError } from '../../db/database-errors.ts';
import { reasonOf } from '../../../shared/thrown.ts';
import { BatchMemory, SLAB_BYTES } from './batch-memory.ts';
import { storeBatch } from './batch-store.ts';
import { CopyEncoder } from './copy-encoder.ts';
import { stampNode } from './copy-node.ts';
import { newBatch } from './log-batch.ts';
import type { LogBatch } from './log-batch.ts';
import { LogSpool } from './log-spool.ts';
import type { SpooledFile } from './log-spool.ts';
import { LogTrouble } from './log-trouble.ts';
import type { QueryLogPrivacy } from './privacy.ts';
import { setAside } from './refused-batches.ts';
import type { QueryLogRow } from '../attribution/row.ts';
import { SendPause } from './send-pause.ts';
import { UnsettledBatches } from './unsettled-batches.ts';

/** What a writer needs. */
export interface LogWriterOptions {
  readonly database: Database;
  /** The spool is made in it. */
  readonly dataDir: string;
  /** `nodeIdOf(server.node_name)` */
  readonly nodeId: number;
  readonly logger: Logger;
  /** Whether rows may be stored in the name of this node; until then they wait in the spool. */
  readonly mayStore?: () => boolean;
  /** `database.query_log_privacy`, or `off` where `log_queries` is false; asked for every row. */
  readonly privacy: () => QueryLogPrivacy;
  /** Rows of a full batch. */
  readonly maxBatchRows?: number;
  /** Milliseconds after which a batch is sent however small it is. */
  readonly maxWaitMs?: number;
  /** Most bytes of the spool. */
  readonly maxSpoolBytes?: number;
}

/** Rows since the start, for `/metrics` and tests. */
export interface LogWriterCounters {
  /** In the database. */
  readonly written: number;
  /** Written to the spool; they count as `written` too when they have got into the database. */
  readonly spooled: number;
  /** Lost: beyond a bound, or refused by the disk. */
  readonly dropped: number;
  /** Refused by the database for what is in them, and set aside on disk. */
  readonly refused: number;
  /** In memory now. */
  readonly waiting: number;
}

const DEFAULTS = {
  maxBatchRows: 12_000,
  maxWaitMs: 1000,
  maxSpoolBytes: 256 * 1024 * 1024,
  mayStore: () => true,
} as const;
/** Bytes at which a batch is full, whatever its rows: answers can be long. An ordinary row still fits its slab. */
const MAX_BATCH_BYTES = SLAB_BYTES - 8192;
/** Bytes that may be on their way to a disk that does not keep up, and that may wait for one that is full. */
const MAX_SPILLING_BYTES = 64 * 1024 * 1024;
/** Milliseconds for closing unless said otherwise. */
const CLOSE_MS = 3000;
/** Of that, what the database gets; what it has not taken then is spooled. */
const FLUSH_SHARE = 0.5;

/** What is being done, in messages. */
const REPLAY = 'replay the query log spool';
const STORE = 'store the query log';

interface WaitingBatch extends LogBatch {
  /** `performance.now()` when it was sealed. */
  readonly sealedMs: number;
}

/** Takes rows and gets them into the query log. */
export class LogWriter {
  private readonly options: Required<LogWriterOptions>;
  private readonly memory = new BatchMemory();
  private readonly encoder: CopyEncoder;
  private readonly spool: LogSpool;
  private readonly queue: WaitingBatch[] = [];
  private readonly tick: NodeJS.Timeout;
  private readonly stopListening: () => void;
  /** All work on the spool's files, one piece after the other. */
  private spoolWork: Promise<void>;
  private spillingBytes = 0;
  /** Batches that neither the database nor the disk took; tried again with the next tick. */
  private held: LogBatch[] = [];
  private readonly unsettled = new UnsettledBatches((batch) => this.memory.giveBack(batch.bytes));
  /** Batches of the file that is being sent which are counted already. */
  private readonly replayed = new Set<string>();
  private sending: WaitingBatch | undefined;
  private pump: Promise<void> | undefined;
  private closing = false;
  private written = 0;
  private spooled = 0;
  private dropped = 0;
  private refused = 0;
  private readonly sendPause = new SendPause();
  private readonly logTrouble: LogTrouble;

  constructor(options: LogWriterOptions) {
    this.options = { ...DEFAULTS, ...options };
    this.logTrouble = new LogTrouble(options.logger);
    this.encoder = new CopyEncoder(options.nodeId, this.memory);
    this.spool = new LogSpool(join(options.dataDir, 'spool'), this.options.maxSpoolBytes);
    this.spoolWork = this.spool.open().catch((error: unknown) => {
      options.logger.error('open the query log spool', { reason: reasonOf(error) });
    });
    this.tick = setInterval(() => this.onTick(), this.options.maxWaitMs);
    this.stopListening = options.database.onStatus(({ state }) => {
      if (state !== 'up') this.takeBackUnsettled();
      this.sendPause.end();
      this.wake();
    });
    void this.spoolWork.then(() => this.wake());
  }

  /** Adds one row; returns at once. The row and its bytes are copied. */
  append(row: QueryLogRow): void {
    const privacy = this.options.privacy();
    if (privacy === 'off') return;
    this.encoder.encode(row, privacy);
    const isFull = this.encoder.rowCount >= this.options.maxBatchRows;
    if (isFull || this.encoder.byteLength >= MAX_BATCH_BYTES) this.seal();
  }

  /** Sends what is there and resolves when it is in the database or in the spool. */
  async flush(): Promise<void> {
    this.seal();
    while (this.pump !== undefined) await this.pump;
    await this.spoolWork;
  }

  /** Why rows cannot be stored now, neither in the database nor on disk; null = they can. */
  trouble(): string | null {
    return this.logTrouble.now();
  }

  counters(): LogWriterCounters {
    const batches = [...(this.sending ? [this.sending] : []), ...this.queue, ...this.held];
    const waiting = batches.reduce((sum, batch) => sum + batch.rowCount, this.encoder.rowCount);
    return {
      written: this.written,
      spooled: this.spooled,
      dropped: this.dropped,
      refused: this.refused,
      waiting,
    };
  }

  /** Flushes; what the database does not take in time goes to the spool. No row may be added after. */
  async close(withinMs = CLOSE_MS): Promise<void> {
    this.closing = true;
    clearInterval(this.tick);
    this.stopListening();
    this.seal();
    const inTime = new AbortController();
    const late = sleep(withinMs * FLUSH_SHARE, undefined, { signal: inTime.signal }).catch(() => undefined);
    await Promise.race([this.pump, late]);
    inTime.abort();
    // A database that does not answer may have lost what it acknowledged last.
    if (this.sending || this.options.database.status().state !== 'up') this.takeBackUnsettled();
    // The batch on its way may or may not arrive; its id keeps it from being stored twice.
    if (this.sending) this.spill(copyOf(this.sending));
    for (const batch of [...this.held.splice(0), ...this.queue.splice(0)]) this.spill(batch);
    await this.spoolWork;
  }

  private onTick(): void {
    this.seal();
    this.unsettled.forget();
    this.memory.shrink();
    for (const batch of this.held.splice(0)) this.queue.push({ ...batch, sealedMs: performance.now() });
    const oldestMs = performance.now() - this.options.maxWaitMs;
    while (this.queue[0] !== undefined && this.queue[0].sealedMs < oldestMs) this.spill(this.queue.shift()!);
    this.wake();
  }

  private seal(): void {
    if (this.encoder.rowCount > 0) {
      this.queue.push({ ...newBatch(this.encoder.take()), sealedMs: performance.now() });
    }
    this.wake();
  }

  private wake(): void {
    this.pump ??= this.send();
  }

  /** Sends batches until there are none, then those of the spool. */
  private async send(): Promise<void> {
    await Promise.resolve(); // `pump` is set before anything here ends.
    try {
      while (this.options.mayStore() && !this.sendPause.isOn()) {
        const batch = this.queue.shift();
        if (batch !== undefined) await this.sendOne(batch);
        // A batch may have come while the spool was read, and found this pump at work.
        else if (this.closing || (!(await this.replayOne()) && this.queue.length === 0)) return;
      }
    } finally {
      this.pump = undefined;
    }
  }

  private async sendOne(batch: WaitingBatch): Promise<void> {
    this.sending = batch;
    try {
      await storeBatch(this.options.database, batch, { durable: false });
      this.written += batch.rowCount;
      this.unsettled.add(batch);
      this.logTrouble.end();
      this.sendPause.end();
    } catch (error) {
      if (isDataError(error)) this.setAside(copyOf(batch), error);
      else {
        if (!(error instanceof DatabaseUnavailable)) this.pause(STORE, error, batch);
        this.spill(copyOf(batch));
      }
    } finally {
      this.sending = undefined;
    }
  }

  /** The database is there and does not take rows, though nothing is wrong with them: they wait. */
  private pause(action: string, cause: unknown, { rowCount }: LogBatch): void {
    const fields = { rows: rowCount, after_ms: this.sendPause.begin() };
    this.logTrouble.begin(`${action}: tried again later`, cause, fields);
  }

  /** Keeps rows that can never be stored where a person finds them. */
  private setAside(batch: LogBatch, cause: unknown): void {
    void this.onSpool('set refused rows aside', async () => {
      try {
        const file = await setAside(join(this.options.dataDir, 'spool', 'refused'), batch);
        this.refused += batch.rowCount;
        const reason = reasonOf(cause);
        this.options.logger.error(`${STORE}: the database refuses rows, they are set aside`, {
          rows: batch.rowCount,
          file,
          reason,
        });
      } catch (error) {
        this.drop(batch.rowCount, 'set refused rows aside', error);
      }
    });
  }

  /** Sends the oldest file of the spool; false when there is none or the database is away. */
  private async replayOne(): Promise<boolean> {
    if (this.options.database.status().state !== 'up') return false;
    let file: SpooledFile | undefined;
    await this.onSpool(REPLAY, async () => {
      file = await this.spool.oldest();
    });
    if (file === undefined) return false;
    for (const batch of file.batches) if (!(await this.replay(batch))) return false;
    const { name, isDamaged } = file;
    if (isDamaged) this.options.logger.error(`${REPLAY}: rows of a damaged file are lost`, { file: name });
    await this.onSpool(REPLAY, () => this.spool.remove(name));
    this.replayed.clear();
    return true;
  }

  /** False when the database is away again, so the batch stays where it is. */
  private async replay(batch: LogBatch): Promise<boolean> {
    try {
      stampNode(batch.bytes, this.options.nodeId);
      await storeBatch(this.options.database, batch, { durable: true });
      // A file whose last batches have to wait is sent again from its start.
      if (!this.replayed.has(batch.id)) this.written += batch.rowCount;
      this.replayed.add(batch.id);
    } catch (error) {
      if (!isDataError(error)) {
        if (!(error instanceof DatabaseUnavailable)) this.pause(REPLAY, error, batch);
        return false;
      }
      this.setAside(batch, error);
      return true;
    }
    this.sendPause.end();
    this.logTrouble.end();
    return true;
  }

  /** Puts a batch on disk, after whatever is being done there. */
  private spill(batch: LogBatch): void {
    if (this.spillingBytes > MAX_SPILLING_BYTES) {
      return this.drop(batch.rowCount, 'spool query log', new Error('the disk does not keep up'));
    }
    this.spillingBytes += batch.bytes.length;
    void this.onSpool('spool query log', async () => {
      try {
        const lostRows = await this.spool.add(batch);
        this.spooled += batch.rowCount;
        this.memory.giveBack(batch.bytes);
        if (!this.sendPause.isOn()) this.logTrouble.end();
        if (lostRows > 0) this.drop(lostRows, 'spool query log', new Error('the spool is full'));
      } catch (error) {
        this.hold(batch, error);
      } finally {
        this.spillingBytes -= batch.bytes.length;
      }
    });
  }

  /** Keeps a batch that the disk did not take, which may be full for a while only. */
  private hold(batch: LogBatch, cause: unknown): void {
    const heldBytes = this.held.reduce((sum, { bytes }) => sum + bytes.length, batch.bytes.length);
    if (this.closing || heldBytes > MAX_SPILLING_BYTES)
      return this.drop(batch.rowCount, 'spool query log', cause);
    this.held.push(batch);
    this.logTrouble.begin('spool query log: rows are kept in memory', cause, { rows: batch.rowCount });
  }

  /** Sends again what a database that is gone may not have had on its disk. */
  private takeBackUnsettled(): void {
    for (const batch of this.unsettled.takeBack()) {
      this.written -= batch.rowCount;
      this.spill(batch);
    }
  }

  private onSpool(action: string, work: () => Promise<void>): Promise<void> {
    this.spoolWork = this.spoolWork.then(work).catch((error: unknown) => {
      this.options.logger.error(action, { reason: reasonOf(error) });
    });
    return this.spoolWork;
  }

  private drop(rowCount: number, action: string, cause: unknown): void {
    this.dropped += rowCount;
    this.logTrouble.begin(`${action}: rows are lost`, cause, {
      rows: rowCount,
      rowsSinceStart: this.dropped,
    });
  }
}

/** The same batch in memory of its own: a connection that broke off may still be reading the other. */
function copyOf(batch: LogBatch): LogBatch {
  return { ...batch, bytes: Buffer.from(batch.bytes) };
}
