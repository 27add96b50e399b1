/** HTTP routes of `{api}/blocklist-sources/stats` and the same for allowlists: statistics of each list. */
import { periodMs } from '../../../shared/api/fields.ts';
import { SourceStatsList, SourceStatsQuery } from '../../../shared/api/policy/compiled-lists-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import { spanOf } from '../../query-log/reading/period-start.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import type { CompiledLists } from './compiled-lists.ts';

/** The routes of list statistics, for blocklists and allowlists. */
export function listStatsRoutes(context: {
  compiledLists: Pick<CompiledLists, 'rulesBySource' | 'safeSearchExceptions'>;
  policyRows: () => Pick<PolicyRows, 'sources'>;
  stats: Pick<LogQuestions, 'listHits'>;
  clock: Clock;
}): Route[] {
  const { compiledLists, policyRows, stats, clock } = context;
  const readListStats = async (
    kind: SourceKind,
    { period }: SourceStatsQuery,
    gone: AbortSignal,
  ): Promise<SourceStatsList> => {
    const hits = await stats.listHits(spanOf(clock.nowMs(), periodMs(period)!), gone);
    const counts = compiledLists.rulesBySource();
    const exceptions = compiledLists.safeSearchExceptions();
    const lists = policyRows().sources.filter((source) => source.kind === kind);
    return lists.map(({ id }) => ({
      id,
      hits: kind === 'block' ? (hits.get(id)?.all ?? 0) : null,
      sole_hits: kind === 'block' ? (hits.get(id)?.sole ?? 0) : null,
      rules: counts.get(id)?.rules ?? 0,
      unique_rules: counts.get(id)?.unique ?? 0,
      safe_search_exceptions: [...(exceptions.get(id) ?? [])],
    }));
  };
  const row = (path: string, kind: SourceKind): Route =>
    route({
      method: 'GET',
      path,
      access: 'viewer',
      tag: 'Lists',
      summary:
        `For each ${kind}list, the number of queries that it decided, and the number of its rules that no ` +
        'other list has',
      query: SourceStatsQuery,
      answer: SourceStatsList,
      handle: ({ query, gone }) => readListStats(kind, query, gone),
    });
  return [
    row('/blocklist-sources/stats', 'block'),
    row('/allowlist-sources/stats', 'allow'),
    row('/whitelist-sources/stats', 'allow'),
  ];
}
