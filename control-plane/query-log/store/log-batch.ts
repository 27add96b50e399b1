/** A batch of encoded rows with the id that makes storing it happen once. */
import { randomUUID } from 'node:crypto';
import type { EncodedRows } from './copy-encoder.ts';

/** Rows that are stored together or not at all. */
export interface LogBatch extends EncodedRows {
  /** UUID; a batch that is sent twice is stored once. */
  readonly id: string;
}

/** Gives rows the id of a new batch. */
export function newBatch(rows: EncodedRows): LogBatch {
  return { id: randomUUID(), ...rows };
}
