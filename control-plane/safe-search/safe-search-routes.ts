/** HTTP of `{api}/safe-search/configs`. A change is in the database and in force when the answer is sent. */
import type {
  SafeSearchConfig,
  SafeSearchParams,
  SafeSearchToggle,
} from '../../shared/api/policy/safe-search-api.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import * as store from './safe-search-store.ts';

/** GET safe-search/configs */
export function listSafeSearch({ database }: ApiContext): Promise<SafeSearchConfig[]> {
  return store.listConfigs(database);
}

/** GET safe-search/configs/{group_id} */
export function readSafeSearch(
  { database }: ApiContext,
  { params }: RouteRequest<SafeSearchParams>,
): Promise<SafeSearchConfig[]> {
  return store.readConfigs(database, params.group_id);
}

/** POST safe-search/configs/{group_id} */
export async function toggleSafeSearch(
  { policy }: ApiContext,
  request: RouteRequest<SafeSearchParams, unknown, SafeSearchToggle>,
): Promise<SafeSearchConfig[]> {
  const { body } = request;
  const { group_id: groupId } = request.params;
  return policy.change(authorOf(request), async (tx) => {
    await store.readConfigs(tx, groupId);
    await store.writeConfigs(tx, groupId, body);
    const summary = `safe search of group ${groupId}: ${body.engine} ${body.enabled ? 'on' : 'off'}`;
    return { result: await store.readConfigs(tx, groupId), summary };
  });
}

/** DELETE safe-search/configs/{group_id} */
export async function deleteSafeSearch(
  { policy }: ApiContext,
  request: RouteRequest<SafeSearchParams>,
): Promise<void> {
  const { group_id: groupId } = request.params;
  await policy.change(authorOf(request), async (tx) => {
    const wasThere = await store.deleteConfigs(tx, groupId);
    return { result: undefined, summary: wasThere ? `safe search of group ${groupId}: deleted` : null };
  });
}
