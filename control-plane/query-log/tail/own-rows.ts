/** Copies the rows of this node into small blocks for live tails while they are gathered. No call blocks. */
import type { QueryLogRow } from '../rows/row.ts';
import { type RawBlock, sealBlock } from '../block/block-encoder.ts';
import { type StoredParts, OpenBlock } from '../block/open-block.ts';
import type { RowTap } from '../store/block-gatherer.ts';
import type { OwnRun } from '../store/block-store.ts';
import type { LogWriter } from '../store/log-writer.ts';

/** Maximum number of waiting blocks; the limit matters only if the clock jumps back and forth, which creates many. */
const MAX_BLOCKS = 16;

/**
 * Maximum number of rows copied between two calls: at more than 40,000 queries per second, the other rows of each tick
 * are only counted.
 */
export const MAX_OWN_ROWS = 4000;

/** Rows with consecutive sequence numbers. */
export interface OwnBlock {
  readonly block: RawBlock;
  readonly firstSeq: number;
}

/** Rows since the previous call, and the number of rows that were not copied. */
export interface TakenRows {
  readonly blocks: readonly OwnBlock[];
  readonly leftOut: number;
}

/** Provides the rows of this node. */
export interface OwnRowsSource {
  /** The run to which the rows belong. */
  readonly run: OwnRun;
  /** Starts or stops copying rows. */
  watch(isWanted: boolean): void;
  /** The rows since the last call; resolves without rows if copying is stopped. */
  take(): Promise<TakenRows>;
}

const NONE: TakenRows = { blocks: [], leftOut: 0 };

/** The rows of a writer in this thread. */
export function ownRowsOf(writer: Pick<LogWriter, 'run' | 'show'>): OwnRowsSource {
  let own: OwnRows | null = null;
  return {
    run: writer.run,
    watch: (isWanted) => {
      own = isWanted ? new OwnRows() : null;
      writer.show(own);
    },
    take: async () => own?.takeAll() ?? NONE,
  };
}

/** Copies the stored parts of each row. */
export class OwnRows implements RowTap {
  private readonly open = new OpenBlock();
  private firstSeq = 0;
  private sealed: OwnBlock[] = [];
  private taken = 0;
  private leftOut = 0;

  take(row: QueryLogRow, timestampUs: number, kept: StoredParts, seq: number): void {
    if (this.taken === MAX_OWN_ROWS) {
      this.leftOut++;
      return;
    }
    this.taken++;
    const { open } = this;
    const isNext = seq === this.firstSeq + open.rowCount;
    if (open.rowCount > 0 && !(isNext && open.accepts(timestampUs) && !open.isFull)) this.seal();
    if (open.rowCount === 0) this.firstSeq = seq;
    open.add(row, timestampUs, kept);
  }

  /** The rows since the last call. */
  takeAll(): TakenRows {
    if (this.open.rowCount > 0) this.seal();
    const { sealed: blocks, leftOut } = this;
    this.sealed = [];
    this.taken = this.leftOut = 0;
    return { blocks, leftOut };
  }

  private seal(): void {
    const { open } = this;
    if (this.sealed.length < MAX_BLOCKS)
      this.sealed.push({ block: sealBlock(open), firstSeq: this.firstSeq });
    else this.leftOut += open.rowCount;
    open.clear();
  }
}
