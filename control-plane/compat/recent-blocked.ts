/** The names that were blocked last. */
import type { QueryLogReader } from '../query-log/reading/query-log-reader.ts';
import { BLOCKED_DECISIONS } from './query-kinds.ts';

/** At most `limit` of them, the newest first. */
export async function readRecentBlocked(
  queryLog: Pick<QueryLogReader, 'page'>,
  limit: number,
  gone: AbortSignal,
): Promise<string[]> {
  if (limit === 0) return [];
  const filter = { decisions: BLOCKED_DECISIONS, from: null, to: null, limit, offset: 0 };
  return (await queryLog.page(filter, gone)).data.map(({ domain }) => domain);
}
