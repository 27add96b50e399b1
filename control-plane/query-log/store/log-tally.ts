/** Counts the rows of the query log since the start by outcome, and keeps the reason why rows cannot be stored now. */
import type { Logger } from '../../../shared/log.ts';
import { LogTrouble } from './log-trouble.ts';

/** Positions of the counts in shared memory that outlives the counting thread. */
export const TallySlot = {
  WRITTEN: 0,
  SPOOLED: 1,
  REFUSED: 2,
  DROPPED: 3,
  /** Rows in memory, as last counted. */
  WAITING: 4,
  /** Sequence number of the next row of the run. */
  NEXT_SEQ: 5,
  /** Rows lost because a ring was full; the run has gaps for them. */
  RING_LOST: 6,
} as const;
const SLOTS = 8;

/** Memory for the counts, readable by other threads. */
export function createTallyMemory(): Float64Array {
  return new Float64Array(new SharedArrayBuffer(SLOTS * Float64Array.BYTES_PER_ELEMENT));
}

/** Rows since the start, for `/metrics` and tests. */
export interface LogWriterCounters extends Readonly<
  Pick<LogTally, 'written' | 'spooled' | 'dropped' | 'refused'>
> {
  /** Rows in memory now. */
  readonly waiting: number;
}

/** Counts rows; every part that stores or loses rows reports them here. */
export class LogTally {
  readonly trouble: LogTrouble;
  private readonly memory: Float64Array;

  constructor(logger: Logger, memory = createTallyMemory(), onTrouble?: (now: string | null) => void) {
    this.trouble = new LogTrouble(logger, onTrouble);
    this.memory = memory;
  }

  /** Rows written to the database. */
  get written(): number {
    return this.memory[TallySlot.WRITTEN]!;
  }
  set written(rows: number) {
    this.memory[TallySlot.WRITTEN] = rows;
  }

  /** Rows written to the spool; they also count as `written` once they are in the database. */
  get spooled(): number {
    return this.memory[TallySlot.SPOOLED]!;
  }
  set spooled(rows: number) {
    this.memory[TallySlot.SPOOLED] = rows;
  }

  /** Rows that the database rejected because of their content; they are kept on disk. */
  get refused(): number {
    return this.memory[TallySlot.REFUSED]!;
  }
  set refused(rows: number) {
    this.memory[TallySlot.REFUSED] = rows;
  }

  /** Rows lost because a limit was exceeded or the disk refused them. */
  get dropped(): number {
    return this.memory[TallySlot.DROPPED]!;
  }

  /** Counts lost rows and logs the loss. */
  drop(rowCount: number, action: string, cause: unknown): void {
    this.memory[TallySlot.DROPPED] = this.dropped + rowCount;
    this.trouble.begin(`${action}: rows are lost`, cause, { rows: rowCount, rowsSinceStart: this.dropped });
  }

  /** Rows in memory, as last counted: they are lost if the thread dies. */
  set waiting(rows: number) {
    this.memory[TallySlot.WAITING] = rows;
  }

  /** Rows that were lost before they arrived here because a ring was full. */
  get ringLost(): number {
    return this.memory[TallySlot.RING_LOST]!;
  }
  set ringLost(rows: number) {
    this.memory[TallySlot.RING_LOST] = rows;
  }

  /** Counts rows that were lost before they arrived here and logs the loss. */
  loseInRing(rows: number): void {
    this.ringLost += rows;
    const cause = new Error('the CPU is overloaded');
    this.trouble.begin('query log records are lost', cause, { rows, rowsSinceStart: this.ringLost });
  }

  /** Sequence number of the next row of the run. */
  get nextSeq(): number {
    return this.memory[TallySlot.NEXT_SEQ]!;
  }
  set nextSeq(seq: number) {
    this.memory[TallySlot.NEXT_SEQ] = seq;
  }
}

/** Counts the rows that were waiting in a dead thread as lost. */
export function loseWaiting(memory: Float64Array): number {
  const rows = memory[TallySlot.WAITING]!;
  memory[TallySlot.DROPPED] = memory[TallySlot.DROPPED]! + rows;
  memory[TallySlot.WAITING] = 0;
  return rows;
}

/** Rows lost since the start, for any reason. */
export function lostRows(memory: Float64Array): number {
  return memory[TallySlot.DROPPED]! + memory[TallySlot.REFUSED]! + memory[TallySlot.RING_LOST]!;
}

/** Reads the counts from memory; waiting rows are as last counted. */
export function readTally(memory: Float64Array): LogWriterCounters {
  return {
    written: memory[TallySlot.WRITTEN]!,
    spooled: memory[TallySlot.SPOOLED]!,
    dropped: memory[TallySlot.DROPPED]!,
    refused: memory[TallySlot.REFUSED]!,
    waiting: memory[TallySlot.WAITING]!,
  };
}
