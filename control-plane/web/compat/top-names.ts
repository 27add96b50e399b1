/**
 * The most queried names as counted by FTL, computed from Weir's lists: the blocked target of an alias counts instead
 * of the name that leads to it, canaries count as blocked, and reverse names of private addresses without a name do not
 * count.
 */
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import type { QueryLogReader } from '../../query-log/reading/query-log-reader.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import type { Span } from '../../query-log/statistics/counts-reader.ts';
import type { DomainCount } from '../../query-log/statistics/stats-store.ts';
import { countsOf, DECISION_KINDS } from './day-counts.ts';
import { BLOCKED_DECISIONS, decisionsOf, sumStatuses } from './query-kinds.ts';

/** Maximum number of rows of a list. */
export const MAX_LINES = 1000;
/** Maximum number of rows that are read; any further rows are counted as in Weir's lists. */
const MAX_ROWS = 10_000;
const CNAME_STATUSES = ['GRAVITY_CNAME', 'REGEX_CNAME', 'DENYLIST_CNAME'] as const;
const CANARY = 'LOCAL:canary';
const REVERSE_NAME = /\.(?:in-addr|ip6)\.arpa$/;

/** The list and the number of its rows. */
export interface WantedNames {
  readonly isBlocked: boolean;
  readonly limit: number;
}

/** The rows of a list, the most queried first. */
export async function readTopNames(
  { stats, queryLog }: { stats: LogQuestions; queryLog: Pick<QueryLogReader, 'page'> },
  span: Span,
  { isBlocked, limit }: WantedNames,
  gone: AbortSignal,
): Promise<DomainCount[]> {
  const request = { ...span, limit: MAX_LINES };
  const blocked = new NameCounts(await stats.topDomains({ ...request, which: 'blocked' }, gone));
  const allowed = new NameCounts(await stats.topDomains({ ...request, which: 'allowed' }, gone));
  for (const [domain, count] of blocked.all())
    if (REVERSE_NAME.test(domain)) {
      blocked.add(domain, -count);
      allowed.add(domain, count);
    }
  for (const { domain, status, block_alias: alias } of await readDiffering(stats, queryLog, span, gone)) {
    if (status === 'LOCAL') allowed.add(domain, -1);
    else blocked.add(domain, -1);
    blocked.add(alias ?? domain, 1);
  }
  return (isBlocked ? blocked : allowed).top(limit);
}

/** Rows that FTL counts under a different name or in the other list (blocked or allowed). */
async function readDiffering(
  stats: LogQuestions,
  queryLog: Pick<QueryLogReader, 'page'>,
  span: Span,
  gone: AbortSignal,
): Promise<readonly LoggedQuery[]> {
  const counts = await countsOf(stats, span, DECISION_KINDS, gone);
  const statuses = sumStatuses(counts);
  const hasAny =
    CNAME_STATUSES.some((status) => statuses[status] > 0) || counts.decision[CANARY] !== undefined;
  if (!hasAny) return [];
  const decisions = [...decisionsOf(...CNAME_STATUSES), CANARY] as const;
  const period = { from: new Date(span.fromMs), to: new Date(span.toMs) };
  return (await queryLog.page({ decisions, ...period, limit: MAX_ROWS, offset: 0 }, gone)).data;
}

/** Queries by name. */
class NameCounts {
  private readonly counts: Map<string, number>;

  constructor(lines: readonly DomainCount[]) {
    this.counts = new Map(lines.map(({ domain, count }) => [domain, count]));
  }

  all(): [domain: string, count: number][] {
    return [...this.counts];
  }

  add(domain: string, count: number): void {
    this.counts.set(domain, (this.counts.get(domain) ?? 0) + count);
  }

  top(limit: number): DomainCount[] {
    return this.all()
      .filter(([, count]) => count > 0)
      .sort(([, a], [, b]) => b - a)
      .slice(0, limit)
      .map(([domain, count]) => ({ domain, count }));
  }
}

/** The most recently blocked names, the newest first. */
export async function readRecentBlocked(
  queryLog: Pick<QueryLogReader, 'page'>,
  limit: number,
  gone: AbortSignal,
): Promise<string[]> {
  if (limit === 0) return [];
  const filter = { decisions: BLOCKED_DECISIONS, from: null, to: null, limit, offset: 0 };
  return (await queryLog.page(filter, gone)).data.map(({ domain }) => domain);
}
