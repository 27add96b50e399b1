/**
 * Ids of rows as clients of the compatibility API expect them: they grow with time, whichever node or thread wrote the
 * row. Pure.
 */
import type { LoggedQuery } from '../../shared/api/query-log-api.ts';

/** No row is older. Counting from here leaves room for rows of one millisecond until 2054. */
const EPOCH_MS = Date.UTC(2020, 0);
/** Ids of a millisecond. Rows of one run have consecutive numbers, so they share none. */
const IDS_PER_MS = 8192;

/** The id of a row; rows of two nodes in one millisecond share one in rare cases. */
export function orderedId({ id, timestamp }: Pick<LoggedQuery, 'id' | 'timestamp'>): number {
  return (Date.parse(timestamp) - EPOCH_MS) * IDS_PER_MS + (id % IDS_PER_MS);
}

/** The highest id that a row of now may have. */
export function cursorAt(nowMs: number): number {
  return (Math.floor(nowMs) - EPOCH_MS + 1) * IDS_PER_MS - 1;
}

/** Unix milliseconds before which the rows up to a cursor lie. */
export function timeOfCursor(cursor: number): number {
  return Math.floor(cursor / IDS_PER_MS) + EPOCH_MS + 1;
}
