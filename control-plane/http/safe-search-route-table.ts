/** The routes of safe search. Part of `route-table.ts`, whose head says what a row means. */
import {
  SafeSearchConfigList,
  SafeSearchParams,
  SafeSearchToggleBody,
} from '../../shared/api/policy/safe-search-api.ts';
import * as safeSearch from '../safe-search/safe-search-routes.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';

const PATH = '/safe-search/configs';
const GROUP_PATH = `${PATH}/{group_id}`;
const tag = 'Safe search';

export const safeSearchRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: PATH,
    access: 'viewer',
    tag,
    summary: 'What was set for any group; other engines are off',
    answer: SafeSearchConfigList,
    handle: safeSearch.listSafeSearch,
  }),
  route({
    method: 'GET',
    path: GROUP_PATH,
    access: 'viewer',
    tag,
    summary: 'Every engine for one group',
    params: SafeSearchParams,
    answer: SafeSearchConfigList,
    handle: safeSearch.readSafeSearch,
  }),
  route({
    method: 'POST',
    path: GROUP_PATH,
    access: 'admin',
    tag,
    summary: 'Switch one engine, or all, for a group',
    params: SafeSearchParams,
    body: SafeSearchToggleBody,
    answer: SafeSearchConfigList,
    handle: safeSearch.toggleSafeSearch,
  }),
  route({
    method: 'DELETE',
    path: GROUP_PATH,
    access: 'admin',
    tag,
    summary: 'Switch all engines off for a group and forget their settings',
    params: SafeSearchParams,
    handle: safeSearch.deleteSafeSearch,
  }),
];
