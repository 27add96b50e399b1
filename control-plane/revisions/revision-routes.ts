/** HTTP of `{api}/revisions`. */
import { IdParams } from '../../shared/api/fields.ts';
import { Revision, RevisionList } from '../../shared/api/revisions-api.ts';
import { authorOf, route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { listRevisions as list } from '../policy/revision-store.ts';
import { rollBack } from './rollback.ts';
import type { RollBackParts } from './rollback.ts';

/** Rows of revisions. */
export function revisionRoutes(parts: RollBackParts): Route[] {
  return [listRevisions(parts), rollBackTo(parts)];
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

function rollBackTo(parts: RollBackParts): Route {
  return route({
    method: 'POST',
    path: '/revisions/{id}/rollback',
    access: 'admin',
    tag: 'Revisions',
    summary: 'Make the policy and lists of a revision those in force; this is itself a revision',
    params: IdParams,
    answer: Revision,
    errors: { 409: 'too old, or something made since is in the way' },
    handle: (request) => rollBack(parts, request.params.id, authorOf(request)),
  });
}
