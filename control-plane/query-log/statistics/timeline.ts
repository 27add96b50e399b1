/**
 * Queries of a period over time. For all clients they are computed from the counts of minutes, quarters of an hour and
 * days: a bucket is the sum of the stored counts whose time starts in the bucket, so that the sum of all buckets is the
 * total of the period.
 */
import {
  type ClearedPeriods,
  GRANULARITIES,
  type Granularity,
  type Timeline,
} from '../../../shared/api/stats-api.ts';
import { zoneOffset } from '../../../shared/policy/time-zone.ts';
import { invalid } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { LogSource } from '../reading/log-source.ts';
import { MINUTES_KEPT_MS } from '../reading/period-start.ts';
import { nodesOf } from '../reading/query-log-store.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import { type Grain, GRAIN_MS } from '../store/counts-store.ts';
import type { SumRequest } from '../sums/log-sums.ts';
import { BUCKET_MS, bucketStarts } from './bucket-starts.ts';
import { readCleared } from './cleared-periods.ts';
import { type Bucket, type NodeSpan, partsOf, readBuckets } from './counts-reader.ts';
import { readMatchingCounts } from './matching-counts.ts';

/** Filters of a timeline. */
export interface TimelineRequest extends NodeSpan {
  readonly granularity: Granularity;
  readonly timezone: string;
  /** Only queries of this client or network, and of this group. */
  readonly client?: string | undefined;
  readonly group_id?: number | undefined;
}

/** Maximum number of buckets in a response: enough for ten years of days. */
const MAX_BUCKETS = 4000;
/** The longest period for which each granularity is the default. */
const DEFAULT_UP_TO_MS: readonly [number, Granularity][] = [
  [3 * BUCKET_MS.hour, 'minute'],
  [2 * BUCKET_MS.day, '15min'],
  [14 * BUCKET_MS.day, 'hour'],
];

/**
 * The requested granularity, or one that suits the period. @throws {ApiError} 400 if the requested granularity is too
 * fine
 */
export function granularityOf(periodMs: number, wanted: Granularity | undefined): Granularity {
  if (wanted === undefined) return DEFAULT_UP_TO_MS.find(([upToMs]) => periodMs <= upToMs)?.[1] ?? 'day';
  const refuse = (message: string): Error => invalid([{ path: 'granularity', message }]);
  if (wanted === 'minute' && periodMs > MINUTES_KEPT_MS)
    throw refuse('minutes are kept for two days; expected a period of at most 2d, or a coarser granularity');
  const fits = (granularity: Granularity): boolean => periodMs / BUCKET_MS[granularity] <= MAX_BUCKETS;
  if (fits(wanted)) return wanted;
  const finest = GRANULARITIES.find((granularity) => granularity !== 'minute' && fits(granularity));
  throw refuse(`more than ${MAX_BUCKETS} buckets in this period; the finest for it is ${finest}`);
}

/** The timeline of a period. */
export async function readTimeline(log: LogSource, request: TimelineRequest): Promise<Timeline> {
  return log.read(async (tx) => {
    const counts = await readTimelineCounts(tx, request, log.onDamaged);
    return timelineOf(request, counts, await readCleared(tx, request));
  });
}

/** Counts of the matching queries in short spans, in order; no span is longer than a bucket. */
export async function readTimelineCounts(
  tx: BlockTransaction,
  request: TimelineRequest,
  onDamaged: SumRequest['onDamaged'],
): Promise<Bucket[]> {
  const { client, group_id, node, ...span } = request;
  if (client === undefined && group_id === undefined) return readAllCounts(tx, request);
  const stepMs = GRAIN_MS[request.granularity === 'minute' ? 'm' : 'q'];
  const { nodeId } = await nodesOf(tx, { node });
  return readMatchingCounts(tx, { ...span, nodeId, stepMs, filter: { client, group_id } }, onDamaged);
}

/** Like `readTimelineCounts()`, for the queries of all clients. */
export async function readAllCounts(tx: Queryable, request: TimelineRequest): Promise<Bucket[]> {
  const { nodeId } = await nodesOf(tx, { node: request.node });
  return readBuckets(tx, partsOf(request.fromMs, request.toMs, grainsOf(request)), nodeId);
}

/** Granularities of stored counts that are fine enough for the timeline, the coarsest first. */
function grainsOf({ granularity, timezone }: TimelineRequest): readonly Grain[] {
  if (granularity === 'minute') return ['m'];
  return granularity === 'day' && timezone === 'UTC' ? ['d', 'q', 'm'] : ['q', 'm'];
}

/** The timeline made of the counts of `readTimelineCounts()`. */
export function timelineOf(
  { fromMs, toMs, granularity, timezone }: TimelineRequest,
  counts: readonly Bucket[],
  cleared: ClearedPeriods,
): Timeline {
  const starts = bucketStarts(granularity, zoneOffset(timezone)!, fromMs, toMs);
  return { granularity, timezone, log_cleared: cleared, buckets: fill(starts, counts) };
}

/** A bucket for each start, with the sum of the counts that start in the bucket; both arrays must be sorted. */
function fill(starts: readonly number[], counts: readonly Bucket[]): Timeline['buckets'] {
  let at = 0;
  return starts.map((startMs, place) => {
    const endMs = starts[place + 1] ?? Infinity;
    const sum = { total: 0, blocked: 0, cached: 0, forwarded: 0, rate_limited: 0 };
    for (let next = counts[at]; next !== undefined && next.startMs < endMs; next = counts[++at]) {
      sum.total += next.queries;
      sum.blocked += next.blocked;
      sum.cached += next.cached;
      sum.forwarded += next.forwarded;
      sum.rate_limited += next.rateLimited;
    }
    return { timestamp: new Date(startMs).toISOString(), ...sum };
  });
}
