/** HTTP of `{api}/revisions`. */
import type { Revision } from '../../shared/api/revisions-api.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import { listRevisions as list } from '../policy/revision-store.ts';
import { rollBack } from './rollback.ts';
import type { IdParams } from '../../shared/api/fields.ts';

/** GET revisions */
export function listRevisions({ database }: ApiContext): Promise<Revision[]> {
  return list(database);
}

/** POST revisions/{id}/rollback */
export function rollBackTo(context: ApiContext, request: RouteRequest<IdParams>): Promise<Revision> {
  const { database, policy, sources } = context;
  const bringBack = (): Promise<void> => sources.bringBack();
  return rollBack({ database, policy, bringBack }, request.params.id, authorOf(request));
}
