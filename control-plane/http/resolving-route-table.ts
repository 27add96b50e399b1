/**
 * The routes of what resolving is made of: upstream servers and the answer cache. Part of `route-table.ts`,
 * whose head says what a row means.
 */
import {
  CacheEntryFilter,
  CacheEntryPage,
  CacheEntryQuery,
  CacheMetrics,
  CacheStats,
  CacheStatsQuery,
} from '../../shared/api/cache-api.ts';
import { UpstreamDetailList, UpstreamHealth } from '../../shared/api/upstreams-api.ts';
import * as cache from '../cache/cache-routes.ts';
import { readUpstreamDetail, readUpstreamHealth } from '../upstreams/upstream-routes.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';

export const resolvingRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/cache/stats',
    access: 'viewer',
    tag: 'Cache',
    summary: 'Hits and misses of a period',
    query: CacheStatsQuery,
    answer: CacheStats,
    handle: cache.readCacheStats,
  }),
  route({
    method: 'GET',
    path: '/cache/metrics',
    access: 'viewer',
    tag: 'Cache',
    summary: 'The answer cache of this node since its start',
    answer: CacheMetrics,
    handle: cache.readCacheMetrics,
  }),
  route({
    method: 'GET',
    path: '/cache/entries',
    access: 'viewer',
    tag: 'Cache',
    summary: 'Answers in the cache, of a name or all',
    query: CacheEntryQuery,
    answer: CacheEntryPage,
    handle: cache.listCacheEntries,
  }),
  route({
    method: 'DELETE',
    path: '/cache/entries',
    access: 'admin',
    tag: 'Cache',
    summary: 'Drop answers from the cache, of a name or type or all',
    query: CacheEntryFilter,
    errors: { 503: 'a worker holds the cache; see Retry-After' },
    handle: cache.dropCacheEntries,
  }),

  route({
    method: 'GET',
    path: '/upstream/health',
    access: 'viewer',
    tag: 'Upstreams',
    summary: 'State of every upstream server, those of forward zones too',
    answer: UpstreamHealth,
    handle: readUpstreamHealth,
  }),
  route({
    method: 'GET',
    path: '/upstream/health/detail',
    access: 'viewer',
    tag: 'Upstreams',
    summary: 'Every upstream server with its pool or forward zone, latency and failures',
    answer: UpstreamDetailList,
    handle: readUpstreamDetail,
  }),
];
