/**
 * Writes log rows to the database: they are encoded immediately and sent in batches. While the database is down,
 * batches are spooled to disk; they are sent when the database is available again. DNS answers never wait for the
 * writer. If Weir is killed, the rows of the last second are lost, or the rows of the last ten seconds if there are
 * fewer than ten queries per second. No row is lost if only the database is killed or only the disk is full. All memory
 * is bounded; rows beyond a limit are dropped and counted. This module decides when a block ends, and connects the
 * parts: `block-compression.ts`, `batch-sender.ts`, `spilled-batches.ts`.
 */
import type { Logger } from '../../../shared/log.ts';
import { Exclusion } from '../../../shared/query-log.ts';
import type { QueryLogRow } from '../rows/row.ts';
import type { Database } from '../../storage/db/database.ts';
import { BatchSender } from './batch-sender.ts';
import { BlockCompression } from './block-compression.ts';
import { BlockGatherer, type RowTap, type SealedBlock } from './block-gatherer.ts';
import type { NetworkPrefixes } from './limited-networks.ts';
import type { BlockDatabase, OwnRun } from './block-store.ts';
import { PartGatherers } from './part-gatherers.ts';
import { LogTally, type LogWriterCounters } from './log-tally.ts';
import type { QueryLogPrivacy } from './privacy.ts';
import { SpilledBatches } from './spilled-batches.ts';

export interface LogWriterOptions {
  readonly database: BlockDatabase | Database;
  /** Data directory; the spool is a subdirectory of it. */
  readonly dataDir: string;
  /** See `SpillOptions`; immediate by default. */
  readonly mayWrite?: Promise<void>;
  /** `nodeIdOf(server.node_name)` */
  readonly nodeId: number;
  /** UUID of this lifetime of the process; random by default. */
  readonly runKey?: string;
  readonly logger: Logger;
  /** Whether rows may be stored on behalf of this node; while it returns false, rows wait in the spool. */
  readonly mayStore?: () => boolean;
  /** `database.query_log_privacy`, or `off` if `log_queries` is false; called for every row. */
  readonly privacy: () => QueryLogPrivacy;
  /**
   * Prefix lengths from `dns.rate_limit`; called for every rate-limited query. If absent, each of these queries gets
   * its own row.
   */
  readonly limitedPrefixes?: (() => NetworkPrefixes) | undefined;
  /** Milliseconds after which a block with enough rows is sent. */
  readonly maxWaitMs?: number;
  /** Size limit of the spool, bytes. */
  readonly maxSpoolBytes?: number;
  /**
   * Memory of the counts, from `createTallyMemory()`. A writer in a replacement thread continues with the memory of the
   * previous writer.
   */
  readonly tallyMemory?: Float64Array;
  /** Called with each new reason why rows cannot be stored, and with null when they can be stored again. */
  readonly onTrouble?: (now: string | null) => void;
}

/** Default size limit of the spool in bytes. */
export const MAX_SPOOL_BYTES = 2 * 1024 ** 3;

const DEFAULTS = {
  maxWaitMs: 1000,
  maxSpoolBytes: MAX_SPOOL_BYTES,
  mayWrite: Promise.resolve(),
  mayStore: () => true,
} as const;
/**
 * A block with fewer queries waits for more, up to this many ticks: the fixed cost of a small block exceeds the cost of
 * its rows.
 */
const QUIET_QUERIES = 10;
const MAX_QUIET_TICKS = 10;
/** Default milliseconds for closing. */
const CLOSE_MS = 3000;
/** Share of the closing time that is used to send rows to the database; remaining rows are then spooled. */
const FLUSH_SHARE = 0.5;

/** Stores rows in the query log. */
export class LogWriter {
  private readonly privacy: () => QueryLogPrivacy;
  private readonly maxWaitMs: number;
  private readonly tally: LogTally;
  private readonly gatherer: BlockGatherer;
  private readonly parts: PartGatherers;
  readonly run: OwnRun;
  /** Size limit of the spool, bytes. */
  readonly spoolLimitBytes: number;
  private readonly compression: BlockCompression;
  private readonly spilled: SpilledBatches;
  private readonly sender: BatchSender;
  private readonly tick: NodeJS.Timeout;
  /** Ticks since the last block was sealed. */
  private quietTicks = 0;

  constructor(options: LogWriterOptions) {
    const { privacy, maxWaitMs, limitedPrefixes, runKey, ...others } = { ...DEFAULTS, ...options };
    this.privacy = privacy;
    const tally = new LogTally(options.logger, options.tallyMemory, options.onTrouble);
    this.tally = tally;
    this.gatherer = new BlockGatherer(limitedPrefixes, runKey, null, tally.nextSeq);
    this.parts = new PartGatherers(limitedPrefixes, this.gatherer.runKey);
    this.run = { key: this.gatherer.runKey, id: null };
    this.maxWaitMs = maxWaitMs;
    this.spoolLimitBytes = others.maxSpoolBytes;
    this.spilled = new SpilledBatches({ ...others, tally });
    const { run, spilled } = this;
    this.sender = new BatchSender({ ...others, tally, spilled, run, nextSeq: () => this.gatherer.nextSeq });
    this.compression = new BlockCompression({
      compressed: (batch) => this.sender.add(batch),
      failed: (rowCount, error) => tally.drop(rowCount, 'could not compress query log rows', error),
    });
    this.tick = setInterval(() => this.onTick(), maxWaitMs);
    void this.spilled.settled().then(() => this.sender.wake());
  }

  /** Adds one query; returns immediately. The row and its bytes are copied. */
  append(row: QueryLogRow): void {
    const privacy = this.privacy();
    if (privacy === 'off') return;
    if (row.exclusion === Exclusion.NONE) this.send(this.gatherer.append(row, privacy));
    else if (row.exclusion !== Exclusion.BOTH) this.send(this.parts.append(row, privacy));
    this.tally.nextSeq = this.gatherer.nextSeq;
  }

  /** Records rows that never arrived here: their sequence numbers are skipped, so that the log shows a gap. */
  lose(rows: number): void {
    this.send(this.gatherer.skip(rows));
    this.tally.loseInRing(rows);
    this.tally.nextSeq = this.gatherer.nextSeq;
  }

  /** Passes each row that will be stored to `tap`, which replaces the previous observer; null = no observer. */
  show(tap: RowTap | null): void {
    this.gatherer.tap = tap;
  }

  /** Number of rows since the start that never arrived here because a ring was full. */
  get ringLost(): number {
    return this.tally.ringLost;
  }

  /** Sends the gathered rows; resolves when they are in the database or the spool. */
  async flush(): Promise<void> {
    this.seal();
    await this.compression.settled();
    this.sender.wake();
    await this.sender.settled();
    await this.spilled.settled();
  }

  /** Reason why rows cannot be stored now, neither in the database nor on disk; null = rows can be stored. */
  trouble(): string | null {
    return this.tally.trouble.now();
  }

  /** Counts since the start; also stores the number of waiting rows in the memory of the counts. */
  counters(): LogWriterCounters {
    const { written, spooled, dropped, refused } = this.tally;
    const parts = [
      this.gatherer.rowCount,
      this.parts.rowCount,
      this.compression.rowCount,
      this.sender.rowCount,
    ];
    const waiting = parts.reduce((sum, rows) => sum + rows, this.spilled.heldRows);
    this.tally.waiting = waiting;
    return { written, spooled, dropped, refused, waiting };
  }

  /** Flushes; rows that the database does not accept in time go to the spool. No row may be added afterwards. */
  async close(withinMs = CLOSE_MS): Promise<void> {
    clearInterval(this.tick);
    this.spilled.holdNoMore();
    this.sender.finish();
    this.seal();
    await this.compression.settled();
    await this.sender.close(withinMs * FLUSH_SHARE);
    await this.spilled.settled();
  }

  private onTick(): void {
    this.quietTicks++;
    const gathered = this.gatherer.queryCount + this.parts.queryCount;
    if (gathered >= QUIET_QUERIES || this.quietTicks >= MAX_QUIET_TICKS) this.seal();
    for (const batch of this.spilled.takeHeld()) this.sender.add(batch);
    this.sender.spillOld(this.maxWaitMs);
    this.sender.wake();
  }

  private seal(): void {
    this.quietTicks = 0;
    this.send(this.gatherer.seal());
    for (const sealed of this.parts.seal()) this.send(sealed);
    this.sender.wake();
  }

  /** Compresses a block and sends it. */
  private send(sealed: SealedBlock | null): void {
    if (sealed !== null) this.compression.add(sealed);
  }
}
