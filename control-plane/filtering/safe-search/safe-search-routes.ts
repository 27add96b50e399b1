/** HTTP routes of `{api}/safe-search/configs`. A change is stored and active when the response is sent. */
import { codedAction, codedSubject, codedWord } from '../../../shared/policy/changes/change-codes.ts';
import {
  SafeSearchConfigList,
  SafeSearchParams,
  SafeSearchToggleBody,
} from '../../../shared/api/policy/safe-search-api.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import * as store from './safe-search-store.ts';

const PATH = '/safe-search/configs';
const GROUP_PATH = `${PATH}/{group_id}`;
const tag = 'Safe search';

export function safeSearchRoutes(context: { database: Database; policy: PolicyChanges }): Route[] {
  return [
    listSafeSearch(context.database),
    readSafeSearch(context.database),
    toggleSafeSearch(context.policy),
    deleteSafeSearch(context.policy),
  ];
}

function listSafeSearch(database: Database): Route {
  return route({
    method: 'GET',
    path: PATH,
    access: 'viewer',
    tag,
    summary: 'Safe search settings of all groups; engines that are not listed are disabled',
    answer: SafeSearchConfigList,
    handle: () => store.listConfigs(database),
  });
}

function readSafeSearch(database: Database): Route {
  return route({
    method: 'GET',
    path: GROUP_PATH,
    access: 'viewer',
    tag,
    summary: 'Safe search settings of one group for all engines',
    params: SafeSearchParams,
    answer: SafeSearchConfigList,
    handle: ({ params }) => store.readConfigs(database, params.group_id),
  });
}

function toggleSafeSearch(policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: GROUP_PATH,
    access: 'admin',
    tag,
    summary: 'Enable or disable safe search for a group, for one engine or for all',
    params: SafeSearchParams,
    body: SafeSearchToggleBody,
    answer: SafeSearchConfigList,
    handle: async (request) => {
      const { body } = request;
      const { group_id: groupId } = request.params;
      return policy.change(authorOf(request), async (tx) => {
        await store.readConfigs(tx, groupId);
        await store.writeConfigs(tx, groupId, body);
        const subject = codedSubject('safe_search', { group: groupId });
        const engine = body.engine === 'all' ? codedWord('all_engines') : body.engine;
        const action = codedAction(body.enabled ? 'engine_enabled' : 'engine_disabled', { engine });
        return { result: await store.readConfigs(tx, groupId), summary: { subject, action } };
      });
    },
  });
}

function deleteSafeSearch(policy: PolicyChanges): Route {
  return route({
    method: 'DELETE',
    path: GROUP_PATH,
    access: 'admin',
    tag,
    summary: 'Disable safe search for a group and delete its settings',
    params: SafeSearchParams,
    handle: async (request) => {
      const { group_id: groupId } = request.params;
      await policy.change(authorOf(request), async (tx) => {
        const wasThere = await store.deleteConfigs(tx, groupId);
        const subject = codedSubject('safe_search', { group: groupId });
        const summary = wasThere ? { subject, action: codedAction('deleted') } : null;
        return { result: undefined, summary };
      });
    },
  });
}
