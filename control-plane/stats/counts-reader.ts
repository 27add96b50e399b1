/** Reads the counts of minutes, quarters of an hour and days (`query-log/store/counts-store.ts`). */
import type { Queryable } from '../db/database.ts';
import { type Grain, GRAIN_MS } from '../query-log/store/counts-store.ts';

/** Rows of one grain that start in a span; Unix milliseconds. */
export interface CountsRange {
  readonly grain: Grain;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Sums of a span. */
export interface CountSums {
  readonly queries: number;
  readonly blocked: number;
  readonly cached: number;
  readonly forwarded: number;
  readonly rateLimited: number;
  /** By `kind:value`, those that are not 0. */
  readonly counts: ReadonlyMap<string, number>;
}

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

/** Sums of [fromMs, toMs), both starts of minutes; of one node, or of all. */
export async function readCounts(
  tx: Queryable,
  fromMs: number,
  toMs: number,
  nodeId?: number,
): Promise<CountSums> {
  const { text, values } = spanSql(partsOf(fromMs, toMs), nodeId);
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

/** Sums of each span of these parts that has queries, in order; of one node, or of all. */
export async function readBuckets(
  tx: Queryable,
  parts: readonly CountsRange[],
  nodeId?: number,
): Promise<Bucket[]> {
  const { text, values } = spanSql(parts, nodeId);
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

function spanSql(
  parts: readonly CountsRange[],
  nodeId: number | undefined,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const put = (value: unknown): string => `$${values.push(value)}`;
  const spans = parts.map(
    ({ grain, fromMs, toMs }) =>
      `(grain = ${put(grain)} AND start >= ${put(new Date(fromMs))} AND start < ${put(new Date(toMs))})`,
  );
  const span = spans.length === 0 ? 'FALSE' : `(${spans.join(' OR ')})`;
  return { text: nodeId === undefined ? span : `${span} AND node_id = ${put(nodeId)}`, values };
}
