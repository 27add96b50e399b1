/** HTTP routes of `{api}/audit-log`. */
import { AuditLogEntry, AuditLogPage, AuditLogQuery } from '../../../shared/api/audit-api.ts';
import { IdParams, periodMs } from '../../../shared/api/fields.ts';
import type { Clock } from '../../../shared/clock.ts';
import { invalid } from '../../api/api-error.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { countAuditLog, readAuditEntry, readAuditLog } from './audit-log-store.ts';
import type { AuditSelection } from './audit-log-store.ts';

/** The routes of the audit log. */
export function auditRoutes({ database, clock }: { database: Queryable; clock: Clock }): Route[] {
  const readLog = route({
    method: 'GET',
    path: '/audit-log',
    access: 'admin',
    tag: 'Audit log',
    summary: 'Changes with their author, time and address, newest first',
    query: AuditLogQuery,
    answer: AuditLogPage,
    handle: async ({ query }) => {
      const selection = selectionOf(query, clock.nowMs());
      const { limit } = query;
      const before = query.cursor === undefined ? null : Number(query.cursor);
      const offset = before === null ? query.offset : 0;
      const [data, total] = await Promise.all([
        readAuditLog(database, selection, { before, limit, offset }),
        countAuditLog(database, selection),
      ]);
      const last = data.length < limit ? undefined : data.at(-1);
      return { data, total, limit, offset, next_cursor: last === undefined ? null : String(last.id) };
    },
  });
  const readEntry = route({
    method: 'GET',
    path: '/audit-log/{id}',
    access: 'admin',
    tag: 'Audit log',
    summary: 'One entry of the audit log',
    params: IdParams,
    answer: AuditLogEntry,
    handle: ({ params }) => readAuditEntry(database, params.id),
  });
  return [readLog, readEntry];
}

function selectionOf(query: AuditLogQuery, nowMs: number): AuditSelection {
  const { actor, author = actor, action, subject, revision, period, from, to } = query;
  if (period !== undefined && from !== undefined)
    throw invalid([{ path: 'period', message: 'expected either period or from, not both' }]);
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
    throw invalid([{ path: 'to', message: 'expected a time after from' }]);
  const since = period === undefined ? from : nowMs - periodMs(period)!;
  return {
    author,
    action,
    subject,
    actionCode: query.action_code,
    revision,
    from: since === undefined ? undefined : new Date(since),
    to: to === undefined ? undefined : new Date(to),
  };
}
