/**
 * Carries the log of earlier versions over into blocks: the newest day first, and in each day the newest hour, a chunk of
 * rows in one transaction, which takes the rows out of `query_log` and stores their blocks and counts. So it may be
 * interrupted anywhere and goes on with what is left; a day that is empty is dropped. The empty table stays: going back
 * to an earlier version needs it. One node works at a time, under a lease.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Lease } from '../../cluster/leases.ts';
import type { Database, LentClient } from '../../db/database.ts';
import { encodeBlock } from '../block/block-encoder.ts';
import { HOUR_US } from '../block/block-layout.ts';
import type { LogBlock } from '../block/log-block.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { addBlock } from '../store/block-store.ts';
import { ensurePartitions } from '../store/partition-store.ts';
import {
  countOldRows,
  dropEmptyOldDay,
  forgetOldBatches,
  listOldDays,
  type OldSpan,
  takeOldRows,
} from './old-partitions.ts';
import { type OldBlock, OldRowPacker } from './old-rows.ts';

/** What it takes. */
export interface CarryOverOptions {
  readonly database: Database;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
  /** Rows in memory at once. */
  readonly chunkRows?: number;
}

/** Some 10 MB of memory, and a block that is large enough to stay. */
const CHUNK_ROWS = 16_384;
const HOURS_PER_DAY = 24;
/** A span that is this short is not halved any more: its rows are taken chunk by chunk. */
const SHORT_US = 10_000_000;
/** Milliseconds between two reports of progress. */
const REPORT_EVERY_MS = 60_000;
/** Longest pause after a chunk, milliseconds; else it is as long as the chunk took. */
const MOST_PAUSE_MS = 1000;

/** Carries rows over. */
export class CarryOver {
  private readonly options: Required<CarryOverOptions>;
  private packer: OldRowPacker | undefined;
  private rows = 0;
  private unreadable = 0;
  private reportedMs: number;

  constructor(options: CarryOverOptions) {
    this.options = { chunkRows: CHUNK_ROWS, ...options };
    this.reportedMs = options.clock.monotonicMs();
  }

  /** Carries over what there is; done when it resolves with true, else at the lease's signal. @throws {LeaseLost} */
  async run(lease: Lease): Promise<boolean> {
    const { database, logger } = this.options;
    const days = await listOldDays(database);
    try {
      for (const [index, day] of days.entries()) await this.carryDay(day, days.length - index, lease);
    } catch (error) {
      if (lease.signal.aborted) return false;
      throw error;
    } finally {
      this.packer = undefined;
    }
    if (days.length === 0) return true;
    await forgetOldBatches(database);
    if (this.rows > 0) logger.info('carry over the query log of an earlier version: done', this.progress());
    return true;
  }

  private async carryDay(day: number, daysLeft: number, lease: Lease): Promise<void> {
    const { database } = this.options;
    const dayUs = day * DAY_MS * 1000;
    for (let hour = HOURS_PER_DAY - 1; hour >= 0; hour--) {
      const span = { day, fromUs: dayUs + hour * HOUR_US, toUs: dayUs + (hour + 1) * HOUR_US };
      await this.carrySpan(span, daysLeft, lease);
    }
    await dropEmptyOldDay(database, day);
  }

  /** Halves a span until a chunk holds it: so no chunk sorts more than its own rows. */
  private async carrySpan(span: OldSpan, daysLeft: number, lease: Lease): Promise<void> {
    const { database, chunkRows } = this.options;
    lease.signal.throwIfAborted();
    const total = await database.background().read((tx) => countOldRows(tx, span));
    if (total === 0) return;
    if (total > chunkRows && span.toUs - span.fromUs > SHORT_US) {
      const middleUs = Math.floor((span.fromUs + span.toUs) / 2);
      await this.carrySpan({ ...span, toUs: middleUs }, daysLeft, lease);
      await this.carrySpan({ ...span, fromUs: middleUs }, daysLeft, lease);
      return;
    }
    await ensurePartitions(database, [span.day]);
    for (let isLeft = true; isLeft;) {
      const beganMs = performance.now();
      isLeft = (await this.carryChunk(span, lease)) === chunkRows;
      this.report(daysLeft);
      await sleep(Math.min(performance.now() - beganMs, MOST_PAUSE_MS), undefined, { signal: lease.signal });
    }
  }

  /** Moves the oldest rows of a span; returns how many. */
  private async carryChunk(span: OldSpan, lease: Lease): Promise<number> {
    const { database, chunkRows } = this.options;
    const taken = await database.background().change(async (client) => {
      await lease.confirm(client);
      const rows = await takeOldRows(client, span, chunkRows);
      let unreadable = 0;
      const packer = (this.packer ??= new OldRowPacker());
      await this.store(
        client,
        span.day,
        packer.pack(rows, () => unreadable++),
      );
      return { rows: rows.length, unreadable };
    });
    this.rows += taken.rows;
    this.unreadable += taken.unreadable;
    return taken.rows;
  }

  private async store(client: LentClient, day: number, blocks: readonly OldBlock[]): Promise<void> {
    const encoded = [];
    // All before the first is stored: its counts are locked from then on.
    for (const { block, ...rest } of blocks) encoded.push({ ...rest, block: await encodeBlock(block) });
    for (const { nodeId, block, minutes } of encoded) {
      const runKey = runKeyOf(day, nodeId);
      const { rows } = await client.query<{ next: number }>(
        'SELECT last_seq + 1 AS next FROM query_runs WHERE key = $1',
        [runKey],
      );
      const logBlock: LogBlock = { ...block, runKey, firstSeq: rows[0]?.next ?? 0, minutes };
      await addBlock(client, logBlock, { nodeId });
    }
  }

  private report(daysLeft: number): void {
    const nowMs = this.options.clock.monotonicMs();
    if (nowMs - this.reportedMs < REPORT_EVERY_MS) return;
    this.reportedMs = nowMs;
    this.options.logger.info('carry over the query log of an earlier version', {
      ...this.progress(),
      days_left: daysLeft,
    });
  }

  private progress(): Record<string, number> {
    return { rows: this.rows, ...(this.unreadable > 0 ? { unreadable: this.unreadable } : {}) };
  }
}

/** The run that a day's rows of a node are numbered in: always the same, so that numbers go on after an interruption. */
function runKeyOf(day: number, nodeId: number): string {
  const hex = createHash('sha256').update(`query_log ${day} ${nodeId}`).digest('hex');
  // A UUID of version 8 (RFC 9562).
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
