/** HTTP of `{api}/revisions`. */
import type { Revision } from '../../shared/api/revisions.ts';
import type { ApiContext } from '../http/api-context.ts';
import { authorOf } from '../http/route.ts';
import type { RouteRequest } from '../http/route.ts';
import { listRevisions as list } from './revision-store.ts';
import { rollBack } from './rollback.ts';
import type { IdParams } from '../../shared/api/fields.ts';

/** GET revisions */
export function listRevisions({ database }: ApiContext): Promise<Revision[]> {
  return list(database);
}

/** POST revisions/{id}/rollback */
export function rollBackTo(context: ApiContext, request: RouteRequest<IdParams>): Promise<Revision> {
  const bringBack = (): Promise<void> => context.sources.bringBack();
  return rollBack(context.database, bringBack, request.params.id, authorOf(request));
}
