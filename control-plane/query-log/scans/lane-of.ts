/**
 * Which questions wait for each other. A question that reads few blocks, whatever the log holds, never waits behind one
 * that may read them all.
 */
import type { QueryConditions } from '../search/query-conditions.ts';
import type { QueryLogRequest } from '../reading/page-scan.ts';
import type { Span } from '../../stats/stats-store.ts';
import type { TimelineRequest } from '../../stats/timeline-store.ts';
import type { Question } from './scan-messages.ts';

/** A queue of questions. */
export type Lane = 'quick' | 'long';

/** How much of each lane there may be. */
export const LANES: Readonly<Record<Lane, { readonly atOnce: number; readonly waiting: number }>> = {
  quick: { atOnce: 2, waiting: 100 },
  long: { atOnce: 2, waiting: 30 },
};

/** Longest span whose names are counted quickly. */
const QUICK_SPAN_MS = 2 * 3_600_000;
/** Rows that a quick page skips or shows at most. */
const QUICK_ROWS = 1000;

/** The lane of a question. */
export function laneOf(question: Question): Lane {
  switch (question.kind) {
    case 'page':
      return isQuickPage(question.request) ? 'quick' : 'long';
    case 'row':
    case 'cache-use':
    case 'list-hits':
    case 'slot-counts':
      return 'quick';
    case 'timeline':
      return isOfAll(question.request) || isShort(question.request) ? 'quick' : 'long';
    case 'summary':
    case 'address-counts':
      return isShort(question.span) ? 'quick' : 'long';
    case 'client-slots':
    case 'dashboard':
    case 'top-domains':
    case 'top-clients':
      return isShort(question.request) ? 'quick' : 'long';
    case 'rows':
    case 'most-asked':
    case 'distinct-questions':
      return 'long';
  }
}

/** Those are counted without reading blocks. */
function isOfAll({ client, group_id }: TimelineRequest): boolean {
  return client === undefined && group_id === undefined;
}

function isShort({ fromMs, toMs }: Pick<Span, 'fromMs' | 'toMs'>): boolean {
  return toMs - fromMs <= QUICK_SPAN_MS;
}

/** The total of all rows is counted without reading blocks; that of some needs every block of the span. */
function isQuickPage({ limit, offset, cursor, fromMs, toMs, ...filter }: QueryLogRequest): boolean {
  if (limit + (cursor === undefined ? offset : 0) > QUICK_ROWS) return false;
  const { node: _, notNode: __, not, ...conditions } = filter;
  if (!isAnySet(conditions) && (not === undefined || !isAnySet(not))) return true;
  return fromMs !== undefined && isShort({ fromMs, toMs: toMs ?? Infinity });
}

function isAnySet(conditions: QueryConditions): boolean {
  return Object.values(conditions).some((value) => value !== undefined);
}
