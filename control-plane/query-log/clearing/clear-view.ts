/** A clear in the form of the API. */
import type { QueryLogClear } from '../../../shared/api/clearing/query-log-clears-api.ts';

/** Columns of `ClearRow`. */
export const COLUMNS = `id, created_at, created_by, from_time, to_time, client_id, client_name, rows, first_time, last_time,
  blocks, blocks_done, done_at`;

/** A row of `query_log_clears`. */
export interface ClearRow {
  readonly id: number;
  readonly created_at: Date;
  readonly created_by: string;
  readonly from_time: Date | null;
  readonly to_time: Date;
  readonly client_id: number | null;
  readonly client_name: string | null;
  readonly rows: number;
  readonly first_time: Date | null;
  readonly last_time: Date | null;
  readonly blocks: number;
  readonly blocks_done: number;
  readonly done_at: Date | null;
}

/** Converts a row of the table to a clear. */
export function toClear(row: ClearRow): QueryLogClear {
  const isDone = row.done_at !== null;
  const share = row.blocks === 0 ? 0 : Math.min(1, row.blocks_done / row.blocks);
  return {
    id: row.id,
    created_at: row.created_at.toISOString(),
    created_by: row.created_by,
    from: row.from_time?.toISOString() ?? null,
    to: row.to_time.toISOString(),
    client_id: row.client_id,
    client_name: row.client_name,
    state: isDone ? 'done' : 'running',
    progress: isDone ? 1 : Math.round(share * 100) / 100,
    rows: row.rows,
    first_row_at: row.first_time?.toISOString() ?? null,
    last_row_at: row.last_time?.toISOString() ?? null,
    done_at: row.done_at?.toISOString() ?? null,
  };
}
