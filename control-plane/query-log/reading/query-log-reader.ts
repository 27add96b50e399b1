/** The query log as the API reads it: the store in the API's words and errors. */
import type { QueryLogPage } from '../../../shared/api/query-log-api.ts';
import { invalid } from '../../api/api-error.ts';
import type { LogSelection } from './log-request.ts';
import type { LogSource } from './log-source.ts';
import type { LoggedQueryContext } from './logged-queries.ts';
import { InvalidCursor } from './query-log-cursor.ts';
import { type QueryLogRequest, readQueryLog } from './query-log-store.ts';

/** Which part of the log to show, and which page of it. */
export interface QueryLogFilter extends LogSelection, Pick<QueryLogRequest, 'limit' | 'offset' | 'cursor'> {}

/** Read side of the query log, newest first. */
export interface QueryLogReader {
  /** One page. Throws ApiError 400 for a cursor, type or rcode that it does not know. */
  page(filter: QueryLogFilter): Promise<QueryLogPage>;
}

/** Read side over the stored log; `hostnameOf` returns the name of the client at an address. */
export function queryLogReader(log: LogSource, hostnameOf: LoggedQueryContext['hostnameOf']): QueryLogReader {
  return {
    async page({ from, to, ...filter }) {
      try {
        return await readQueryLog(
          log,
          { ...filter, fromMs: from?.getTime(), toMs: to?.getTime() },
          hostnameOf,
        );
      } catch (error) {
        if (error instanceof InvalidCursor)
          throw invalid([{ path: 'cursor', message: 'is not a cursor of this log' }]);
        throw error;
      }
    },
  };
}
