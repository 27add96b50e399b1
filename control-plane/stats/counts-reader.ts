/** Reads the counts of minutes, quarters of an hour and days (`query-log/store/counts-store.ts`). */
import type { Queryable } from '../db/database.ts';
import type { BlockTransaction } from '../query-log/search/block-transaction.ts';
import type { CountsRange, SummedCounts } from '../query-log/search/kept-counts.ts';
import { type Grain, GRAIN_MS } from '../query-log/store/counts-store.ts';

/** Sums of a span. */
export type CountSums = SummedCounts;

/** Sums of one span of a timeline. */
export interface Bucket {
  /** Start, Unix milliseconds. */
  readonly startMs: number;
  readonly queries: number;
  readonly blocked: number;
  readonly cached: number;
  readonly forwarded: number;
  readonly rateLimited: number;
}

const TOTALS = `coalesce(sum(queries), 0)::bigint AS queries, coalesce(sum(blocked), 0)::bigint AS blocked,
  coalesce(sum(cached), 0)::bigint AS cached, coalesce(sum(forwarded), 0)::bigint AS forwarded,
  coalesce(sum(rate_limited), 0)::bigint AS "rateLimited"`;

/** Sums of [fromMs, toMs); both are starts of minutes. */
export async function readCounts(tx: BlockTransaction, fromMs: number, toMs: number): Promise<CountSums> {
  const period = tx.memory?.periods.find({ fromUs: fromMs * 1000, toUs: toMs * 1000 });
  const kept = await period?.inTurn(() => period.counts.read(tx, partsOf(fromMs, toMs)));
  return kept ?? addUp(tx, fromMs, toMs);
}

async function addUp(tx: Queryable, fromMs: number, toMs: number): Promise<CountSums> {
  const { text, values } = spanSql(partsOf(fromMs, toMs));
  const totals = await tx.query<Omit<CountSums, 'counts'>>(
    `SELECT ${TOTALS} FROM query_counts WHERE ${text}`,
    values,
  );
  const { rows } = await tx.query<{ key: string; value: number }>(
    `SELECT key, sum(value::bigint)::bigint AS value FROM query_counts, jsonb_each_text(counts) WHERE ${text} GROUP BY key`,
    values,
  );
  return { ...totals.rows[0]!, counts: new Map(rows.map(({ key, value }) => [key, value])) };
}

/** Sums of each span of these parts that has queries, in order. */
export async function readBuckets(tx: Queryable, parts: readonly CountsRange[]): Promise<Bucket[]> {
  const { text, values } = spanSql(parts);
  const { rows } = await tx.query<Bucket>(
    `SELECT (extract(epoch FROM start) * 1000)::bigint AS "startMs", ${TOTALS} FROM query_counts
     WHERE ${text} GROUP BY start ORDER BY start`,
    values,
  );
  return rows;
}

const ALL_GRAINS: readonly Grain[] = ['d', 'q', 'm'];

/** A span in as few rows as can be: days, with quarters of an hour before and after, with minutes before and after. */
export function partsOf(fromMs: number, toMs: number, grains = ALL_GRAINS): CountsRange[] {
  return split(grains, fromMs, toMs);
}

function split([grain, ...finer]: readonly Grain[], fromMs: number, toMs: number): CountsRange[] {
  if (grain === undefined || fromMs >= toMs) return [];
  const stepMs = GRAIN_MS[grain];
  const innerFromMs = Math.ceil(fromMs / stepMs) * stepMs;
  const innerToMs = Math.floor(toMs / stepMs) * stepMs;
  if (finer.length === 0) return [{ grain, fromMs, toMs }];
  if (innerFromMs >= innerToMs) return split(finer, fromMs, toMs);
  return [
    ...split(finer, fromMs, innerFromMs),
    { grain, fromMs: innerFromMs, toMs: innerToMs },
    ...split(finer, innerToMs, toMs),
  ];
}

function spanSql(parts: readonly CountsRange[]): { text: string; values: unknown[] } {
  const text = parts.map(
    (_, index) => `(grain = $${index * 3 + 1} AND start >= $${index * 3 + 2} AND start < $${index * 3 + 3})`,
  );
  return {
    text: text.length === 0 ? 'FALSE' : `(${text.join(' OR ')})`,
    values: parts.flatMap((part) => [part.grain, new Date(part.fromMs), new Date(part.toMs)]),
  };
}
