/** HTTP of `{api}/blocklist-sources`. What becomes of a source is its life's business. */
import type { IdParams } from '../../shared/api/fields.ts';
import type { BlocklistSource, SourceCreate, SourceUpdate } from '../../shared/api/sources.ts';
import type { ApiContext } from '../http/api-context.ts';
import type { RouteRequest } from '../http/route.ts';

/** GET blocklist-sources */
export function listSources({ sources }: ApiContext): Promise<BlocklistSource[]> {
  return sources.list();
}

/** GET blocklist-sources/{id} */
export function readSource(
  { sources }: ApiContext,
  { params }: RouteRequest<IdParams>,
): Promise<BlocklistSource> {
  return sources.read(params.id);
}

/** POST blocklist-sources */
export function createSource(
  { sources }: ApiContext,
  { body }: RouteRequest<unknown, unknown, SourceCreate>,
): Promise<BlocklistSource> {
  return sources.create(body);
}

/** PUT blocklist-sources/{id} */
export function updateSource(
  { sources }: ApiContext,
  { params, body }: RouteRequest<IdParams, unknown, SourceUpdate>,
): Promise<BlocklistSource> {
  return sources.update(params.id, body);
}

/** DELETE blocklist-sources/{id} */
export function deleteSource({ sources }: ApiContext, { params }: RouteRequest<IdParams>): Promise<void> {
  return sources.remove(params.id);
}

/** POST blocklist-sources/{id}/refresh */
export function refreshSource(
  { sources }: ApiContext,
  { params }: RouteRequest<IdParams>,
): Promise<BlocklistSource> {
  return sources.refresh(params.id);
}

/** POST blocklist-sources/refresh */
export function refreshAllSources({ sources }: ApiContext): Promise<BlocklistSource[]> {
  return sources.refreshAll();
}
