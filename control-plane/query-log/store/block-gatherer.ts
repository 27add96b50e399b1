/**
 * Gathers rows of this run into blocks: applies privacy, lets one row stand for all limited queries of a network and
 * second, numbers the rows, and begins a new block when an hour ends or the block is full.
 */
import { randomUUID } from 'node:crypto';
import type { QueryLogRow } from '../rows/row.ts';
import { encodeBlock, type RawBlock, sealBlock } from '../block/block-encoder.ts';
import { blockToBytes, type RunPart, UsedBy } from '../block/log-block.ts';
import { countMinutes, MINUTE_US, type MinuteCounts, notCounted, notLogged } from '../block/minute-counts.ts';
import { type Kept, OpenBlock } from '../block/open-block.ts';
import { FrameMemory } from '../block/frame-memory.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { LimitedNetworks, type NetworkPrefixes } from './limited-networks.ts';
import type { LogBatch } from './log-batch.ts';
import { keptOf } from './privacy.ts';
import type { QueryLogPrivacy } from './privacy.ts';

/** Rows outside these times hold a broken clock; 2000 to 2262, safe in all of PostgreSQL's arithmetic. */
const MIN_TIMESTAMP_US = Date.UTC(2000, 0, 1) * 1000;
const MAX_TIMESTAMP_US = Date.UTC(2262, 0, 1) * 1000;

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

/** A block that is no longer filled. */
export interface SealedBlock {
  readonly block: RawBlock;
  readonly minutes: readonly MinuteCounts[];
  /** UUID of its run, and of which run that is a part. */
  readonly runKey: string;
  readonly part: RunPart | null;
  /** Number of its first row. */
  readonly firstSeq: number;
  /** Lets its memory be used again; the block is not read afterwards. */
  readonly release: () => void;
}

/** Sees each row as it is gathered. */
export interface RowTap {
  /** `row` is reused afterwards; only the parts of it in `kept` are stored. `seq` is its number in the run. */
  take(row: QueryLogRow, timestampUs: number, kept: Kept, seq: number): void;
}

/** The open block of a run. */
export class BlockGatherer {
  /** Key of this run of the process. */
  readonly runKey: string;
  /** Null while there is none. */
  tap: RowTap | null = null;
  /** Null: its queries are in the log and counted. */
  private readonly part: RunPart | null;
  private readonly open = new OpenBlock();
  /** Null: each query gets its own row. */
  private readonly limited: LimitedNetworks | null;
  private seq: number;
  /** Memory of blocks that were compressed; more than one only if blocks arrive faster than they are written. */
  private readonly spare: FrameMemory[] = [];

  /**
   * `prefixes` define which addresses belong to one network; without them, each limited query gets its own row.
   * `firstSeq`: the number of the first row.
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

  /** The number of the next row; those below it are given. */
  get nextSeq(): number {
    return this.seq;
  }

  /** Queries that they stand for. */
  get queryCount(): number {
    return this.open.queryCount;
  }

  /** Adds a query; only what `privacy` allows is copied. Returns the block that it did not fit into, if there is one. */
  append(row: QueryLogRow, privacy: Exclude<QueryLogPrivacy, 'off'>): SealedBlock | null {
    const isCountOnly = this.part?.usedBy === UsedBy.STATS;
    const arrivedUs = Math.min(
      Math.max(Math.round(row.timestampMs * 1000), MIN_TIMESTAMP_US),
      MAX_TIMESTAMP_US,
    );
    // Queries that are not in the log are kept as counts are: by the minute.
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

  /** Place of the row that stands for a query; -1 = it gets its own. */
  private firstOf(row: QueryLogRow, timestampUs: number): number {
    if (this.limited === null || row.status !== QueryStatus.RATE_LIMITED) return -1;
    return this.limited.find(row, timestampUs, this.open.rowCount);
  }

  /** Uses up the numbers of rows that were lost before they came here, so that their loss shows as a gap. */
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

/** Compresses a block, and lets its memory go: what is stored, spooled and sent. */
export async function toBatch(
  runKey: string,
  { block, minutes, part, firstSeq, release }: SealedBlock,
): Promise<LogBatch> {
  const encoded = await encodeBlock(block);
  release();
  const bytes = blockToBytes({ ...encoded, runKey, ...(part === null ? {} : { part }), firstSeq, minutes });
  return { id: `${runKey}.${firstSeq}`, rowCount: block.rowCount, bytes };
}
