/**
 * The routes of what resolving is made of: upstream servers and the answer cache. Part of `route-table.ts`,
 * whose head says what a row means.
 */
import { UpstreamDetailList, UpstreamHealth } from '../../shared/api/upstreams.ts';
import { readUpstreamDetail, readUpstreamHealth } from '../upstreams/upstream-routes.ts';
import { route } from './route.ts';
import type { Route } from './route.ts';

export const resolvingRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/upstream/health',
    access: 'viewer',
    tag: 'Upstreams',
    summary: 'State of every upstream server',
    answer: UpstreamHealth,
    handle: readUpstreamHealth,
  }),
  route({
    method: 'GET',
    path: '/upstream/health/detail',
    access: 'viewer',
    tag: 'Upstreams',
    summary: 'Every upstream server with its pool, latency and failures',
    answer: UpstreamDetailList,
    handle: readUpstreamDetail,
  }),
];
