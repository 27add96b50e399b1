/** Reads the counts of minutes, quarters of an hour and days (`query-log/store/counts-store.ts`). */
import type { Queryable } from '../../storage/db/database.ts';
import type { LogSource } from '../reading/log-source.ts';
import { type Grain, GRAIN_MS } from '../store/counts-store.ts';

/** A span of time: [fromMs, toMs), Unix milliseconds, both at the start of a minute. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A span, for the queries of one node or of all nodes. */
export interface NodeSpan extends Span {
  /** `server.node_name` */
  readonly node?: string | undefined;
}

/** Stored counts of one granularity that start in a span. */
export interface CountsRange extends Span {
  readonly grain: Grain;
}

/** Sums of a span. */
export interface CountSums {
  readonly queries: number;
  readonly blocked: number;
  readonly cached: number;
  readonly forwarded: number;
  readonly rateLimited: number;
  /** Counts by `kind:value`, without zeros. */
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

/** Selects counts of a span that is divided into slots of equal length. */
export interface SlotRequest extends Span {
  /** Length of a slot, a multiple of a minute; slots start at multiples of this length. */
  readonly stepMs: number;
  /** Kinds of counts, such as `status`; see `MinuteCounts.counts`. */
  readonly kinds: readonly string[];
}

/** Counts of a slot by `kind:value`. */
export interface SlotCounts {
  readonly startMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

const TOTALS = `coalesce(sum(queries), 0)::bigint AS queries, coalesce(sum(blocked), 0)::bigint AS blocked,
  coalesce(sum(cached), 0)::bigint AS cached, coalesce(sum(forwarded), 0)::bigint AS forwarded,
  coalesce(sum(rate_limited), 0)::bigint AS "rateLimited"`;

/** Sums of [fromMs, toMs), both at the start of a minute, for one node or for all nodes. */
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

/**
 * Sums of each of these parts of the span, in order, for one node or for all nodes; parts without queries are omitted.
 */
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

/**
 * The slots with queries, in order, from the counts of minutes. The span must start at most two days ago, because older
 * counts of minutes are deleted.
 */
export async function readSlotCounts(
  log: LogSource,
  { fromMs, toMs, stepMs, kinds }: SlotRequest,
): Promise<SlotCounts[]> {
  const { rows } = await log.read((tx) =>
    tx.query<{ startMs: number; counts: Record<string, number> }>(
      `SELECT slot * $4::bigint AS "startMs", jsonb_object_agg(key, value) AS counts FROM (
         SELECT floor(extract(epoch FROM start) * 1000 / $4::bigint)::bigint AS slot, key, sum(value::bigint) AS value
         FROM query_counts, jsonb_each_text(counts)
         WHERE grain = 'm' AND start >= $1 AND start < $2 AND split_part(key, ':', 1) = ANY($3)
         GROUP BY slot, key) AS sums
       GROUP BY slot ORDER BY slot`,
      [new Date(fromMs), new Date(toMs), kinds, stepMs],
    ),
  );
  return rows;
}

const ALL_GRAINS: readonly Grain[] = ['d', 'q', 'm'];

/**
 * Divides a span so that as few stored counts as possible are read: days, then quarters of an hour before and after the
 * days, then minutes before and after these quarters.
 */
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
