/** Counts of a span by kind and value, as summed by the compatibility API. */
import type { Clock } from '../../../shared/clock.ts';
import { spanOf } from '../../query-log/reading/period-start.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import type { Span } from '../../query-log/statistics/counts-reader.ts';

/** Milliseconds per day. */
const DAY_MS = 86_400_000;

/** The last 24 hours, as defined in the native API. */
export function lastDay(clock: Clock): { fromMs: number; toMs: number } {
  return spanOf(clock.nowMs(), DAY_MS);
}

/** Counts by value. */
export type Counts = Readonly<Record<string, number>>;

/** Kinds of counts that `outcomeOf()` uses. */
export const DECISION_KINDS = ['status', 'decision'] as const;

/** Counts of a whole span, of each kind. */
export async function countsOf<const Kind extends string>(
  stats: Pick<LogQuestions, 'slotCounts'>,
  span: Span,
  kinds: readonly Kind[],
  gone: AbortSignal,
): Promise<Record<Kind, Counts>> {
  const sums: Record<string, number> = {};
  for (const { counts } of await stats.slotCounts({ ...span, stepMs: DAY_MS, kinds }, gone))
    for (const [key, count] of Object.entries(counts)) sums[key] = (sums[key] ?? 0) + count;
  return byKind(sums, kinds);
}

/** Counts with a key `kind:value`, of each kind. */
export function byKind<const Kind extends string>(
  counts: Counts,
  kinds: readonly Kind[],
): Record<Kind, Counts> {
  const ofKind = (kind: Kind): [string, number][] =>
    Object.entries(counts).flatMap(([key, count]) =>
      key.startsWith(`${kind}:`) ? [[key.slice(kind.length + 1), count]] : [],
    );
  return Object.fromEntries(kinds.map((kind) => [kind, Object.fromEntries(ofKind(kind))])) as Record<
    Kind,
    Counts
  >;
}
