/** Answers from the shared cache, with TTLs counted down. */
import { Counter } from '../../shared/memory/counters.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { CacheHit, type AnswerCache } from '../cache/answer-cache.ts';
import { StageResult, type Query, type StageResultCode } from '../query/query.ts';
import type { Reporter } from '../report/reporter.ts';

/** Answers from the cache if it has a fresh answer; counts hits and misses if there is a reporter. */
export function cachedAnswerStage(
  query: Query,
  cache: AnswerCache,
  reporter: Reporter | null,
): StageResultCode {
  const isShared = !query.isEcsSpecific;
  const { partition, arrivedMonotonicSecs } = query;
  if (isShared && cache.answer(query, partition, arrivedMonotonicSecs, false) === CacheHit.FRESH) {
    query.status = QueryStatus.CACHED;
    reporter?.count(Counter.CACHE_HITS);
    return StageResult.ANSWERED;
  }
  reporter?.count(Counter.CACHE_MISSES);
  return StageResult.UNRESOLVED;
}
