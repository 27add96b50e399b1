/** Implements the API's port to the query log with the store, and maps its errors. */
import { invalid } from '../../api/api-error.ts';
import type { Database } from '../../db/database.ts';
import { InvalidCursor } from './query-log-cursor.ts';
import type { QueryLogReader } from './query-log-port.ts';
import { type QueryLogContext, readQueryLog } from './query-log-store.ts';

/** Read side over a database; `hostnameOf` returns the name of the client at an address. */
export function queryLogReader(
  database: Database,
  hostnameOf: QueryLogContext['hostnameOf'],
): QueryLogReader {
  return {
    async page({ from, to, ...filter }) {
      try {
        return await readQueryLog(
          database,
          { ...filter, fromMs: from?.getTime(), toMs: to?.getTime() },
          { hostnameOf },
        );
      } catch (error) {
        if (error instanceof InvalidCursor)
          throw invalid([{ path: 'cursor', message: 'is not a cursor of this log' }]);
        throw error;
      }
    },
  };
}
