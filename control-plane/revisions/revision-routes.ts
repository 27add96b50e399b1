/** HTTP of `{api}/revisions`. */
import { IdParams } from '../../shared/api/fields.ts';
import { Revision, RevisionDetail, RevisionList, RollbackQuery } from '../../shared/api/revisions-api.ts';
import { authorOf, route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { listRevisions as list } from '../policy/revision-store.ts';
import { readDetail } from './revision-detail.ts';
import { rollBack } from './rollback.ts';
import type { RollBackParts } from './rollback.ts';

/** Rows of revisions. */
export function revisionRoutes(parts: RollBackParts): Route[] {
  return [listRevisions(parts), readRevision(parts), rollBackTo(parts)];
}

function listRevisions({ database }: RollBackParts): Route {
  return route({
    method: 'GET',
    path: '/revisions',
    access: 'viewer',
    tag: 'Revisions',
    summary: 'Changes of policy and lists, newest first',
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
    summary: 'One revision, with each changed row before and after',
    params: IdParams,
    answer: RevisionDetail,
    handle: ({ params }) => readDetail(database, params.id),
  });
}

function rollBackTo(parts: RollBackParts): Route {
  return route({
    method: 'POST',
    path: '/revisions/{id}/rollback',
    access: 'admin',
    tag: 'Revisions',
    summary: 'Make the policy and lists of a revision those in force; this is itself a revision',
    params: IdParams,
    query: RollbackQuery,
    answer: Revision,
    errors: { 409: 'too old, expected_head is not the newest, or something made since is in the way' },
    handle: (request) => rollBack(parts, request.params.id, authorOf(request), request.query.expected_head),
  });
}
