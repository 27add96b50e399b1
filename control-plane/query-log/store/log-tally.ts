/**
 * Counts the rows of the query log since the start by what was done with them, and keeps the reason why rows currently
 * cannot be stored.
 */
import type { Logger } from '../../../shared/log.ts';
import { LogTrouble } from './log-trouble.ts';

/** Indexes of the counts in shared memory, which remains if the counting thread dies. */
export const TallySlot = {
  WRITTEN: 0,
  SPOOLED: 1,
  REFUSED: 2,
  DROPPED: 3,
  /** Number of rows in memory when this slot was last updated. */
  WAITING: 4,
  /** Sequence number of the next row of the run. */
  NEXT_SEQ: 5,
  /** Number of rows lost because a ring was full; their sequence numbers are gaps in the run. */
  RING_LOST: 6,
} as const;
const SLOTS = 8;

/** Memory for the counts, readable by other threads. */
export function createTallyMemory(): Float64Array {
  return new Float64Array(new SharedArrayBuffer(SLOTS * Float64Array.BYTES_PER_ELEMENT));
}

/** Numbers of rows since the start, for `/metrics` and tests. */
export interface LogWriterCounters extends Readonly<
  Pick<LogTally, 'written' | 'spooled' | 'dropped' | 'refused'>
> {
  /** Number of rows in memory now. */
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

  /** Number of rows written to the database. */
  get written(): number {
    return this.memory[TallySlot.WRITTEN]!;
  }
  set written(rows: number) {
    this.memory[TallySlot.WRITTEN] = rows;
  }

  /** Number of rows written to the spool; these rows also count as `written` once they are in the database. */
  get spooled(): number {
    return this.memory[TallySlot.SPOOLED]!;
  }
  set spooled(rows: number) {
    this.memory[TallySlot.SPOOLED] = rows;
  }

  /** Number of rows that the database rejected because of their content; these rows are kept on disk. */
  get refused(): number {
    return this.memory[TallySlot.REFUSED]!;
  }
  set refused(rows: number) {
    this.memory[TallySlot.REFUSED] = rows;
  }

  /** Number of rows lost because a limit was exceeded or they could not be written to disk. */
  get dropped(): number {
    return this.memory[TallySlot.DROPPED]!;
  }

  /** Counts lost rows and logs the loss. */
  drop(rowCount: number, action: string, cause: unknown): void {
    this.memory[TallySlot.DROPPED] = this.dropped + rowCount;
    this.trouble.begin(`${action}; they are lost`, cause, { rows: rowCount, rowsSinceStart: this.dropped });
  }

  /** Number of rows in memory, which are lost if the thread dies; must be updated regularly. */
  set waiting(rows: number) {
    this.memory[TallySlot.WAITING] = rows;
  }

  /** Number of rows that never arrived here because a ring was full. */
  get ringLost(): number {
    return this.memory[TallySlot.RING_LOST]!;
  }
  set ringLost(rows: number) {
    this.memory[TallySlot.RING_LOST] = rows;
  }

  /** Counts rows that never arrived here because a ring was full, and logs the loss. */
  loseInRing(rows: number): void {
    this.ringLost += rows;
    const cause = new Error('the CPU is overloaded');
    this.trouble.begin('query log rows are lost', cause, { rows, rowsSinceStart: this.ringLost });
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

/** Number of rows lost since the start, for any reason. */
export function lostRows(memory: Float64Array): number {
  return memory[TallySlot.DROPPED]! + memory[TallySlot.REFUSED]! + memory[TallySlot.RING_LOST]!;
}

/** Reads the counts from memory; the number of waiting rows is that of the last update. */
export function readTally(memory: Float64Array): LogWriterCounters {
  return {
    written: memory[TallySlot.WRITTEN]!,
    spooled: memory[TallySlot.SPOOLED]!,
    dropped: memory[TallySlot.DROPPED]!,
    refused: memory[TallySlot.REFUSED]!,
    waiting: memory[TallySlot.WAITING]!,
  };
}
