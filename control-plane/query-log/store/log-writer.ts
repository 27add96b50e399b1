/**
 * Writes log rows to the database: encoded at once, sent in batches, spooled to disk while the database is down and
 * sent from there when it is back. DNS answers never wait for it. A kill of Weir loses the rows of the last second, of
 * the last ten where fewer than ten come in a second;
 * a kill of the database or a full disk loses nothing. Everything is bounded; rows beyond a bound are dropped and
 * counted.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../shared/log.ts';
import type { Database } from '../../db/database.ts';
import { DatabaseUnavailable, isDataError } from '../../db/database-errors.ts';
import { reasonOf } from '../../../shared/thrown.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { BlockGatherer, type SealedBlock, toBatch } from './block-gatherer.ts';
import { OverlappingBlock, storeBlock } from './block-store.ts';
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
  /** Milliseconds between two blocks, where there are rows enough. */
  readonly maxWaitMs?: number;
  /** Most bytes of the spool. */
  readonly maxSpoolBytes?: number;
}

/** Rows since the start, for `/metrics` and tests. */
export interface LogWriterCounters {
  /** In the database. */
  readonly written: number;
  /** Written to the spool; they also count as `written` once they are in the database. */
  readonly spooled: number;
  /** Lost: beyond a bound, or refused by the disk. */
  readonly dropped: number;
  /** Refused by the database for their content, and set aside on disk. */
  readonly refused: number;
  /** In memory now. */
  readonly waiting: number;
}

const DEFAULTS = {
  maxWaitMs: 1000,
  maxSpoolBytes: 256 * 1024 * 1024,
  mayStore: () => true,
} as const;
/** A block of fewer rows waits for more, this many ticks at most: small blocks cost more than their rows. */
const QUIET_ROWS = 10;
const MOST_QUIET_TICKS = 10;
/** Bytes that may be in flight to a slow disk, and that may wait for a full one. */
const MAX_SPILLING_BYTES = 64 * 1024 * 1024;
/** Milliseconds for closing unless said otherwise. */
const CLOSE_MS = 3000;
/** The database's share of it; the remaining rows are spooled. */
const FLUSH_SHARE = 0.5;

/** The activity named in messages. */
const REPLAY = 'replay the query log spool';
const STORE = 'store the query log';

interface WaitingBatch extends LogBatch {
  /** `performance.now()` when it was sealed. */
  readonly sealedMs: number;
}

/** Takes rows and stores them in the query log. */
export class LogWriter {
  private readonly options: Required<LogWriterOptions>;
  private readonly gatherer = new BlockGatherer();
  /** Blocks that are being compressed, one after the other. */
  private compressing: Promise<void> = Promise.resolve();
  private compressingRows = 0;
  /** Ticks since the last block was sealed. */
  private quietTicks = 0;
  private readonly spool: LogSpool;
  private readonly queue: WaitingBatch[] = [];
  private readonly tick: NodeJS.Timeout;
  private readonly stopListening: () => void;
  /** Queue of all work on the spool's files. */
  private spoolWork: Promise<void>;
  private spillingBytes = 0;
  /** Batches that neither the database nor the disk accepted; retried at the next tick. */
  private held: LogBatch[] = [];
  private readonly unsettled = new UnsettledBatches();
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
    this.take(this.gatherer.append(row, privacy));
  }

  /** Notes rows that were lost before they came here: their numbers are used up, so that the log shows the gap. */
  lose(rows: number): void {
    this.take(this.gatherer.skip(rows));
  }

  /** Sends the gathered rows and resolves when they are in the database or in the spool. */
  async flush(): Promise<void> {
    this.seal();
    await this.compressing;
    this.wake();
    while (this.pump !== undefined) await this.pump;
    await this.spoolWork;
  }

  /** Why rows cannot be stored now, neither in the database nor on disk; null = they can. */
  trouble(): string | null {
    return this.logTrouble.now();
  }

  counters(): LogWriterCounters {
    const batches = [...(this.sending ? [this.sending] : []), ...this.queue, ...this.held];
    const waiting = batches.reduce(
      (sum, batch) => sum + batch.rowCount,
      this.gatherer.rowCount + this.compressingRows,
    );
    return {
      written: this.written,
      spooled: this.spooled,
      dropped: this.dropped,
      refused: this.refused,
      waiting,
    };
  }

  /** Flushes; rows that the database does not accept in time go to the spool. Add no row afterwards. */
  async close(withinMs = CLOSE_MS): Promise<void> {
    this.closing = true;
    clearInterval(this.tick);
    this.stopListening();
    this.seal();
    await this.compressing;
    const inTime = new AbortController();
    const late = sleep(withinMs * FLUSH_SHARE, undefined, { signal: inTime.signal }).catch(() => undefined);
    await Promise.race([this.pump, late]);
    inTime.abort();
    // A database that does not answer may have lost what it acknowledged last.
    if (this.sending || this.options.database.status().state !== 'up') this.takeBackUnsettled();
    // The batch in flight may or may not arrive; its numbers prevent storing it twice.
    if (this.sending) this.spill(this.sending);
    for (const batch of [...this.held.splice(0), ...this.queue.splice(0)]) this.spill(batch);
    await this.spoolWork;
  }

  private onTick(): void {
    this.quietTicks++;
    if (this.gatherer.rowCount >= QUIET_ROWS || this.quietTicks >= MOST_QUIET_TICKS) this.seal();
    this.unsettled.forget();
    for (const batch of this.held.splice(0)) this.queue.push({ ...batch, sealedMs: performance.now() });
    const oldestMs = performance.now() - this.options.maxWaitMs;
    while (this.queue[0] !== undefined && this.queue[0].sealedMs < oldestMs) this.spill(this.queue.shift()!);
    this.wake();
  }

  private seal(): void {
    this.quietTicks = 0;
    this.take(this.gatherer.seal());
    this.wake();
  }

  /** Compresses a block and queues it. */
  private take(sealed: SealedBlock | null): void {
    if (sealed === null) return;
    const { rowCount } = sealed.block;
    this.compressingRows += rowCount;
    this.compressing = this.compressing
      .then(async () => {
        const batch = await toBatch(this.gatherer.runKey, sealed);
        this.queue.push({ ...batch, sealedMs: performance.now() });
        this.wake();
      })
      .catch((error: unknown) => this.drop(rowCount, 'compress query log', error))
      .finally(() => {
        this.compressingRows -= rowCount;
      });
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
        // A batch may have arrived during the read of the spool, while this pump was running.
        else if (this.closing || (!(await this.replayOne()) && this.queue.length === 0)) return;
      }
    } finally {
      this.pump = undefined;
    }
  }

  private async sendOne(batch: WaitingBatch): Promise<void> {
    this.sending = batch;
    try {
      await storeBlock(this.options.database, batch, { nodeId: this.options.nodeId, durable: false });
      this.written += batch.rowCount;
      this.unsettled.add(batch);
      this.logTrouble.end();
      this.sendPause.end();
    } catch (error) {
      if (isRefusal(error)) this.setAside(batch, error);
      else {
        if (!(error instanceof DatabaseUnavailable)) this.pause(STORE, error, batch);
        this.spill(batch);
      }
    } finally {
      this.sending = undefined;
    }
  }

  /** The database is up but refuses valid rows: they wait. */
  private pause(action: string, cause: unknown, { rowCount }: LogBatch): void {
    const fields = { rows: rowCount, after_ms: this.sendPause.begin() };
    this.logTrouble.begin(`${action}: retried later`, cause, fields);
  }

  /** Sets aside rows that can never be stored, for a person to find. */
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
      await storeBlock(this.options.database, batch, { nodeId: this.options.nodeId, durable: true });
      // A file whose last batches have to wait is sent again from its start.
      if (!this.replayed.has(batch.id)) this.written += batch.rowCount;
      this.replayed.add(batch.id);
    } catch (error) {
      if (!isRefusal(error)) {
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
        if (!this.sendPause.isOn()) this.logTrouble.end();
        if (lostRows > 0) this.drop(lostRows, 'spool query log', new Error('the spool is full'));
      } catch (error) {
        this.hold(batch, error);
      } finally {
        this.spillingBytes -= batch.bytes.length;
      }
    });
  }

  /** Keeps a batch that the disk refused, since it may be full only temporarily. */
  private hold(batch: LogBatch, cause: unknown): void {
    const heldBytes = this.held.reduce((sum, { bytes }) => sum + bytes.length, batch.bytes.length);
    if (this.closing || heldBytes > MAX_SPILLING_BYTES)
      return this.drop(batch.rowCount, 'spool query log', cause);
    this.held.push(batch);
    this.logTrouble.begin('spool query log: rows are kept in memory', cause, { rows: batch.rowCount });
  }

  /** Sends again what a lost database may not have written to disk. */
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

/** Whether the database will never take the block, however often it is sent. */
function isRefusal(error: unknown): boolean {
  return isDataError(error) || error instanceof DamagedBlock || error instanceof OverlappingBlock;
}
