/** HTTP of `{api}/queries`. */
import { periodMs } from '../../../shared/api/fields.ts';
import type { QueryLogPage, QueryLogQuery } from '../../../shared/api/query-log-api.ts';
import { invalid } from '../../api/api-error.ts';
import type { ApiContext } from '../../api/api-context.ts';
import type { RouteRequest } from '../../api/route.ts';

/** GET queries */
export async function listQueries(
  { clock, queryLog }: ApiContext,
  { query }: RouteRequest<unknown, QueryLogQuery>,
): Promise<QueryLogPage> {
  const { period, from, to, ...filter } = query;
  if (period !== undefined && from !== undefined)
    throw invalid([{ path: 'period', message: 'expected either period or from, not both' }]);
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
    throw invalid([{ path: 'to', message: 'expected a time after from' }]);
  const startMs = period === undefined ? undefined : clock.nowMs() - periodMs(period)!;
  return queryLog.page({ ...filter, from: toDate(startMs ?? from), to: toDate(to) });
}

function toDate(moment: string | number | undefined): Date | null {
  return moment === undefined ? null : new Date(moment);
}
