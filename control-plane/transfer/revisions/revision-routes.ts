/** HTTP routes of `{api}/revisions`. */
import { IdParams } from '../../../shared/api/fields.ts';
import { Revision, RevisionDetail, RevisionList, RollbackQuery } from '../../../shared/api/revisions-api.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { listRevisions as list, findRevision } from '../../policy/change/revision-store.ts';
import { rollBack } from './rollback.ts';
import type { RollBackParts } from './rollback.ts';
import { readAuditOfRevision } from '../../policy/audit/audit-log-store.ts';
import type { Queryable } from '../../storage/db/database.ts';

export function revisionRoutes(parts: RollBackParts): Route[] {
  return [listRevisions(parts), readRevision(parts), rollBackTo(parts)];
}

function listRevisions({ database }: RollBackParts): Route {
  return route({
    method: 'GET',
    path: '/revisions',
    access: 'viewer',
    tag: 'Revisions',
    summary: 'Changes to policy, clients and lists, newest first',
    answer: RevisionList,
    handle: () => list(database),
  });
}

function readRevision({ database }: RollBackParts): Route {
  return route({
    method: 'GET',
    path: '/revisions/{id}',
    access: 'viewer',
    tag: 'Revisions',
    summary: 'One revision, with the state of each changed row before and after',
    params: IdParams,
    answer: RevisionDetail,
    handle: async ({ params, caller }) => {
      const detail = await readDetail(database, params.id);
      // Only admins see addresses, as in the lists of sessions and the audit log.
      return caller?.role === 'admin' ? detail : { ...detail, ip_address: null, address: null };
    },
  });
}

function rollBackTo(parts: RollBackParts): Route {
  return route({
    method: 'POST',
    path: '/revisions/{id}/rollback',
    access: 'admin',
    tag: 'Revisions',
    summary:
      'Undo all changes that users made after a revision; list updates are kept, and the rollback creates ' +
      'a revision',
    params: IdParams,
    query: RollbackQuery,
    answer: Revision,
    errors: {
      409:
        'the revision is too old, users have made a newer revision than expected_head, or two lists have ' +
        'exchanged their URLs',
    },
    handle: (request) => rollBack(parts, request.params.id, authorOf(request), request.query.expected_head),
  });
}

type Rows = Readonly<Record<string, unknown>>;

/** One revision; 404 if there is none. */
async function readDetail(db: Queryable, id: number): Promise<RevisionDetail> {
  const revision = await findRevision(db, id);
  const entry = await readAuditOfRevision(db, id);
  if (entry === null) return { ...revision, ip_address: null, address: null, changes: null, left_out: 0 };
  const before = (entry.before ?? {}) as Rows;
  const after = (entry.after ?? {}) as Rows;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changes = [...names].map((name) => {
    // Table names contain no space.
    const end = name.indexOf(' ');
    const row = { before: before[name] ?? null, after: after[name] ?? null };
    return { table: name.slice(0, end), key: name.slice(end + 1), ...row };
  });
  const { ip_address: address, left_out: leftOut } = entry;
  return { ...revision, ip_address: address, address, changes, left_out: leftOut };
}
