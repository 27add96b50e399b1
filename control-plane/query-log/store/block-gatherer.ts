/**
 * Gathers the rows of this run into blocks: applies privacy, combines all rate-limited queries of a network in a second
 * into one row, numbers the rows, and starts a new block when the hour ends or the block is full.
 */
import { randomUUID } from 'node:crypto';
import type { QueryLogRow } from '../rows/row.ts';
import { encodeBlock, type RawBlock, sealBlock } from '../block/block-encoder.ts';
import { blockToBytes, type RunPart, UsedBy } from '../block/log-block.ts';
import { countMinutes, MINUTE_US, type MinuteCounts, notCounted, notLogged } from '../block/minute-counts.ts';
import { type StoredParts, OpenBlock } from '../block/open-block.ts';
import { FrameMemory } from '../block/frame-memory.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { LimitedNetworks, type NetworkPrefixes } from './limited-networks.ts';
import type { LogBatch } from './log-batch.ts';
import { keptOf } from './privacy.ts';
import type { QueryLogPrivacy } from './privacy.ts';

/**
 * A time outside this range means that the clock is wrong; all calculations in PostgreSQL are safe for times within it.
 */
const MIN_TIMESTAMP_US = Date.UTC(2000, 0, 1) * 1000;
const MAX_TIMESTAMP_US = Date.UTC(2262, 0, 1) * 1000;

/** Milliseconds per day. */
export const DAY_MS = 86_400_000;

/** A complete block. */
export interface SealedBlock {
  readonly block: RawBlock;
  readonly minutes: readonly MinuteCounts[];
  /** UUID of the block's run; if that run is secondary, also its main run. */
  readonly runKey: string;
  readonly part: RunPart | null;
  /** Sequence number of its first row. */
  readonly firstSeq: number;
  /** Releases the memory of the block for reuse; the block must not be read afterwards. */
  readonly release: () => void;
}

/** Observer of the rows that are gathered. */
export interface RowTap {
  /** `row` is reused afterwards; only the parts of it in `kept` are stored. `seq` is its sequence number in the run. */
  take(row: QueryLogRow, timestampUs: number, kept: StoredParts, seq: number): void;
}

/** The open block of a run. */
export class BlockGatherer {
  /** Key of this run of the process. */
  readonly runKey: string;
  /** Observer of the rows; null = none. */
  tap: RowTap | null = null;
  /** Null for the main run, whose queries are both logged and counted in statistics. */
  private readonly part: RunPart | null;
  private readonly open = new OpenBlock();
  /** Null if each query gets its own row. */
  private readonly limited: LimitedNetworks | null;
  private seq: number;
  /** Memory of compressed blocks; more than one only if blocks arrive faster than they are written. */
  private readonly spare: FrameMemory[] = [];

  /**
   * `prefixes` define which addresses belong to one network; without them, each rate-limited query gets its own row.
   * `firstSeq`: sequence number of the first row.
   */
  constructor(
    prefixes?: () => NetworkPrefixes,
    runKey: string = randomUUID(),
    part: RunPart | null = null,
    firstSeq = 0,
  ) {
    this.seq = firstSeq;
    this.runKey = runKey;
    this.part = part;
    this.limited = prefixes === undefined ? null : new LimitedNetworks(prefixes);
  }

  /** Rows in the open block. */
  get rowCount(): number {
    return this.open.rowCount;
  }

  /** Sequence number of the next row; all lower numbers are already used. */
  get nextSeq(): number {
    return this.seq;
  }

  /** Number of queries that the rows of the open block represent. */
  get queryCount(): number {
    return this.open.queryCount;
  }

  /**
   * Adds a query; only what `privacy` allows is copied. If the query does not fit into the open block, returns this
   * block, which is now complete, and starts another one.
   */
  append(row: QueryLogRow, privacy: Exclude<QueryLogPrivacy, 'off'>): SealedBlock | null {
    const isCountOnly = this.part?.usedBy === UsedBy.STATS;
    const arrivedUs = Math.min(
      Math.max(Math.round(row.timestampMs * 1000), MIN_TIMESTAMP_US),
      MAX_TIMESTAMP_US,
    );
    // Queries that are not logged are only counted per minute.
    const timestampUs = isCountOnly ? arrivedUs - (arrivedUs % MINUTE_US) : arrivedUs;
    const sealed = this.open.isFull || !this.open.accepts(timestampUs) ? this.seal() : null;
    const kept = isCountOnly ? { ...keptOf(privacy), answers: false } : keptOf(privacy);
    const first = this.firstOf(row, timestampUs);
    if (first >= 0) {
      this.open.addRepeat(row, first, kept);
      return sealed;
    }
    this.open.add(row, timestampUs, kept);
    this.tap?.take(row, timestampUs, kept, this.seq);
    this.seq++;
    return sealed;
  }

  /** Index of the row that already represents such queries; -1 = the query gets its own row. */
  private firstOf(row: QueryLogRow, timestampUs: number): number {
    if (this.limited === null || row.status !== QueryStatus.RATE_LIMITED) return -1;
    return this.limited.find(row, timestampUs, this.open.rowCount);
  }

  /** Skips the sequence numbers of rows that were lost before they arrived here, so that the loss shows as a gap. */
  skip(rows: number): SealedBlock | null {
    const sealed = this.seal();
    this.seq += rows;
    return sealed;
  }

  /** Ends the open block; null if it is empty. */
  seal(): SealedBlock | null {
    const { open } = this;
    if (open.rowCount === 0) return null;
    const memory = this.spare.pop() ?? new FrameMemory();
    const sealed = {
      block: sealBlock(open, memory),
      minutes: this.countMinutes(),
      runKey: this.runKey,
      part: this.part,
      firstSeq: this.seq - open.rowCount,
      release: () => this.keep(memory),
    };
    open.clear();
    this.limited?.clear();
    return sealed;
  }

  private countMinutes(): MinuteCounts[] {
    const minutes = countMinutes(this.open);
    if (this.part === null) return minutes;
    return minutes.map(this.part.usedBy === UsedBy.LOG ? notCounted : notLogged);
  }

  private keep(memory: FrameMemory): void {
    memory.clear();
    if (this.spare.length === 0) this.spare.push(memory);
  }
}

/** Compresses a block and releases its memory; the result is stored, spooled and sent. */
export async function toBatch(
  runKey: string,
  { block, minutes, part, firstSeq, release }: SealedBlock,
): Promise<LogBatch> {
  const encoded = await encodeBlock(block);
  release();
  const bytes = blockToBytes({ ...encoded, runKey, ...(part === null ? {} : { part }), firstSeq, minutes });
  return { id: `${runKey}.${firstSeq}`, rowCount: block.rowCount, bytes };
}
