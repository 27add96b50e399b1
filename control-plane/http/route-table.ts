/**
 * Every route of the native API: where it is, who may use it, what goes in and comes out, and who handles it.
 * A path that is not here does not exist, and a row without a right that its caller has is refused: the guard
 * denies by default. `openapi.ts` describes these rows; `app.ts` serves them.
 */
import {
  AuthStatus,
  ChangePasswordBody,
  LoginAnswer,
  LoginBody,
  SessionList,
  SetupBody,
} from '../../shared/api/auth-api.ts';
import { IdParams } from '../../shared/api/fields.ts';
import { Group, GroupCreateBody, GroupList, GroupUpdateBody } from '../../shared/api/policy/groups-api.ts';
import { QueryLogPage, QueryLogQuery } from '../../shared/api/query-log-api.ts';
import { QueryRate, RateQuery, StatsQuery, StatsSummary } from '../../shared/api/stats-api.ts';
import { ConfigAnswer, Health, Hostname } from '../../shared/api/system-api.ts';
import * as auth from '../auth/auth-routes.ts';
import * as groups from '../groups/group-routes.ts';
import * as queries from '../query-log/reading/query-routes.ts';
import * as config from '../settings/config-routes.ts';
import * as stats from '../stats/stats-routes.ts';
import * as health from '../system/health-routes.ts';
import { clientRoutes } from './client-route-table.ts';
import { filterRoutes } from './filter-route-table.ts';
import { forwardingRoutes } from './forwarding-route-table.ts';
import { localNamesRoutes } from './local-names-route-table.ts';
import { resolvingRoutes } from './resolving-route-table.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { safeSearchRoutes } from './safe-search-route-table.ts';
import { scheduleRoutes } from './schedule-route-table.ts';

export const routeTable: readonly Route[] = [
  route({
    method: 'GET',
    path: '/health',
    access: 'public',
    tag: 'System',
    summary: 'State of this node, with reasons for whoever is signed in; 200 while DNS is answered, else 503',
    answer: Health,
    alsoStatuses: { 503: 'DNS is not answered' },
    handle: health.readHealth,
  }),
  route({
    method: 'GET',
    path: '/hostname',
    access: 'viewer',
    tag: 'System',
    summary: 'Host name of this machine',
    answer: Hostname,
    handle: health.readHostname,
  }),
  route({
    method: 'GET',
    path: '/config',
    access: 'viewer',
    tag: 'System',
    summary: 'The configuration in force, without its secrets',
    answer: ConfigAnswer,
    handle: config.readConfig,
  }),

  route({
    method: 'GET',
    path: '/auth/status',
    access: 'public',
    tag: 'Authentication',
    summary: 'Whether authentication is on and a password is set',
    answer: AuthStatus,
    handle: auth.readAuthStatus,
  }),
  route({
    method: 'POST',
    path: '/auth/setup',
    access: 'public',
    tag: 'Authentication',
    summary: 'Set the first password; from another machine with the setup code',
    body: SetupBody,
    errors: { 403: 'a password is set already, or the setup code is missing or wrong' },
    handle: auth.setUpPassword,
  }),
  route({
    method: 'POST',
    path: '/auth/login',
    access: 'public',
    tag: 'Authentication',
    summary: 'Open a session; its secret comes as a cookie',
    body: LoginBody,
    answer: LoginAnswer,
    errors: { 401: 'wrong credentials', 429: 'locked out, or too many at once; see Retry-After' },
    handle: auth.logIn,
  }),
  route({
    method: 'POST',
    path: '/auth/logout',
    access: 'public',
    tag: 'Authentication',
    summary: 'End the session of the cookie, if there is one',
    handle: auth.logOut,
  }),
  route({
    method: 'POST',
    path: '/auth/change-password',
    access: 'viewer',
    tag: 'Authentication',
    summary:
      "Change the caller's password, in the configuration file too, and end the caller's other sessions",
    body: ChangePasswordBody,
    errors: {
      401: 'wrong password, or no session or token that counts',
      409: 'the configuration has the password and cannot be changed',
      429: 'locked out, or too many at once; see Retry-After',
    },
    handle: auth.changePassword,
  }),
  route({
    method: 'GET',
    path: '/auth/sessions',
    access: 'admin',
    tag: 'Authentication',
    summary: 'All sessions that are not over',
    answer: SessionList,
    handle: auth.listSessions,
  }),
  route({
    method: 'DELETE',
    path: '/auth/sessions/{id}',
    access: 'admin',
    tag: 'Authentication',
    summary: 'End a session',
    params: IdParams,
    handle: auth.revokeSession,
  }),

  route({
    method: 'GET',
    path: '/groups',
    access: 'viewer',
    tag: 'Groups',
    summary: 'All groups',
    answer: GroupList,
    handle: groups.listGroups,
  }),
  route({
    method: 'POST',
    path: '/groups',
    access: 'admin',
    tag: 'Groups',
    summary: 'Create a group',
    body: GroupCreateBody,
    status: 201,
    answer: Group,
    errors: { 409: 'the name is taken' },
    handle: groups.createGroup,
  }),
  route({
    method: 'GET',
    path: '/groups/{id}',
    access: 'viewer',
    tag: 'Groups',
    summary: 'One group',
    params: IdParams,
    answer: Group,
    handle: groups.readGroup,
  }),
  route({
    method: 'PUT',
    path: '/groups/{id}',
    access: 'admin',
    tag: 'Groups',
    summary: 'Change a group; absent fields keep their value',
    params: IdParams,
    body: GroupUpdateBody,
    answer: Group,
    errors: { 409: 'the name is taken, or Default would be disabled' },
    handle: groups.updateGroup,
  }),
  route({
    method: 'DELETE',
    path: '/groups/{id}',
    access: 'admin',
    tag: 'Groups',
    summary: 'Delete a group that nothing refers to; Default stays',
    params: IdParams,
    errors: { 409: 'something refers to the group, or it is Default' },
    handle: groups.deleteGroup,
  }),

  ...clientRoutes,
  ...filterRoutes,
  ...forwardingRoutes,
  ...localNamesRoutes,
  ...safeSearchRoutes,
  ...scheduleRoutes,
  ...resolvingRoutes,

  route({
    method: 'GET',
    path: '/queries',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'The query log, newest first',
    query: QueryLogQuery,
    answer: QueryLogPage,
    handle: queries.listQueries,
  }),
  route({
    method: 'GET',
    path: '/stats',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'Summary of a period',
    query: StatsQuery,
    answer: StatsSummary,
    handle: stats.readSummary,
  }),
  route({
    method: 'GET',
    path: '/stats/rate',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'Queries of the last second or minute on this node',
    query: RateQuery,
    answer: QueryRate,
    handle: stats.readRate,
  }),
];
