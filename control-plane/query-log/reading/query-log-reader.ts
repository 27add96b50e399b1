/** The interface of the query log for routes; `query-log/log-search/` implements it. */
import type { LoggedQuery, QueryLogPage } from '../../../shared/api/query-log-api.ts';
import type { LogSelection } from './log-request.ts';
import type { QueryLogRequest } from './page-scan.ts';

/** Filters for the log, and the requested page. */
export interface QueryLogFilter extends LogSelection, Pick<QueryLogRequest, 'limit' | 'offset' | 'cursor'> {}

/** Read side of the query log, newest first. Work is cancelled when `signal` is aborted. */
export interface QueryLogReader {
  /** One page. @throws {ApiError} 400 for a cursor that this log did not create */
  page(filter: QueryLogFilter, signal: AbortSignal): Promise<QueryLogPage>;
  /** The row with this id; null if no such row exists, or it was deleted. */
  row(id: number, signal: AbortSignal): Promise<LoggedQuery | null>;
  /** All rows in batches; more are read as they are consumed. */
  rows(selection: LogSelection, signal: AbortSignal): AsyncGenerator<readonly LoggedQuery[]>;
}
