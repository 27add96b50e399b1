/** HTTP routes of `{api}/cache/*`. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import {
  CacheEntryFilter,
  CacheEntryPage,
  CacheEntryQuery,
  CacheMetrics,
  CacheStats,
  CacheStatsQuery,
} from '../../../shared/api/cache-api.ts';
import { periodMs } from '../../../shared/api/fields.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { authorOf, type Route, route } from '../../api/route.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Database } from '../../storage/db/database.ts';
import { spanOf } from '../../query-log/reading/period-start.ts';
import { toCacheStats } from '../../query-log/statistics/cache-use.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import type { CacheContents } from './cache-contents.ts';

/** The routes of the answer cache. */
export function cacheRoutes(context: {
  stats: Pick<LogQuestions, 'cacheUse'>;
  cache: CacheContents;
  database: Database;
  clock: Clock;
  logger: Logger;
}): Route[] {
  return [
    readCacheStats(context.stats, context.cache, context.clock),
    readCacheMetrics(context.cache),
    listCacheEntries(context.cache, context.clock),
    dropCacheEntries(context.cache, context.database, context.logger),
  ];
}

function readCacheStats(stats: Pick<LogQuestions, 'cacheUse'>, cache: CacheContents, clock: Clock): Route {
  return route({
    method: 'GET',
    path: '/cache/stats',
    access: 'viewer',
    tag: 'Cache',
    summary: 'Cache hits and misses of a period',
    query: CacheStatsQuery,
    answer: CacheStats,
    handle: async ({ query, gone }) => {
      const span = spanOf(clock.nowMs(), periodMs(query.period)!);
      return toCacheStats(await stats.cacheUse(span, gone), cache);
    },
  });
}

function readCacheMetrics(cache: CacheContents): Route {
  return route({
    method: 'GET',
    path: '/cache/metrics',
    access: 'viewer',
    tag: 'Cache',
    summary: 'Counters of the answer cache of this node since the node started',
    answer: CacheMetrics,
    handle: () => cache.metrics(),
  });
}

function listCacheEntries(cache: CacheContents, clock: Clock): Route {
  return route({
    method: 'GET',
    path: '/cache/entries',
    access: 'viewer',
    tag: 'Cache',
    summary: 'Cached answers: all, or those for a name',
    query: CacheEntryQuery,
    answer: CacheEntryPage,
    handle: ({ query }) => cache.page(query, clock),
  });
}

function dropCacheEntries(cache: CacheContents, database: Database, logger: Logger): Route {
  return route({
    method: 'DELETE',
    path: '/cache/entries',
    access: 'admin',
    tag: 'Cache',
    summary: 'Clear the cache, or the answers for a name or type',
    query: CacheEntryFilter,
    waits: false, // No need to wait for other nodes, because only the cache of this node changes.
    errors: { 503: 'the cache is locked by a worker; see Retry-After' },
    handle: async (request) => {
      const { query } = request;
      const dropped = await database.transaction(async (tx) => {
        const count = await cache.drop(query);
        const change = { subject: codedSubject('cache_entries'), action: codedAction('dropped') };
        await recordAudit(tx, { actor: authorOf(request), ...change, before: { ...query, entries: count } });
        return count;
      });
      logger.info('cache entries cleared', { ...query, dropped });
    },
  });
}
