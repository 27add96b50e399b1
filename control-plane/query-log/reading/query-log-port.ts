/** The query log as the API needs it. */
import type { QueryLogPage, QueryLogQuery } from '../../../shared/api/query-log-api.ts';

/** Which part of the log to show; `from` is inclusive, `to` exclusive, null = open. */
export interface QueryLogFilter extends Omit<QueryLogQuery, 'period' | 'from' | 'to'> {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Read side of the query log, newest first. */
export interface QueryLogReader {
  /** One page. Throws ApiError 400 for a cursor, type or rcode that it does not know. */
  page(filter: QueryLogFilter): Promise<QueryLogPage>;
}
