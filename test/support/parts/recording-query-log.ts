/** An empty query log that records the searches, for tests of how URLs are parsed. */
import type {
  QueryLogFilter,
  QueryLogReader,
} from '../../../control-plane/query-log/reading/query-log-reader.ts';
import type { LoggedQuery, QueryLogPage } from '../../../shared/api/query-log-api.ts';

/** Answers every search with an empty result, and records it. */
export class RecordingQueryLog implements QueryLogReader {
  readonly filters: QueryLogFilter[] = [];

  async page(filter: QueryLogFilter): Promise<QueryLogPage> {
    this.filters.push(filter);
    return {
      data: [],
      total: 0,
      total_queries: 0,
      limit: filter.limit,
      offset: filter.offset,
      next_cursor: null,
      prev_cursor: null,
      damaged_blocks: 0,
    };
  }

  async row(): Promise<null> {
    return Promise.resolve(null);
  }

  // eslint-disable-next-line require-yield
  async *rows(): AsyncGenerator<LoggedQuery[]> {
    return Promise.resolve();
  }
}
