/** Reads the counts that a timeline is made of. */
import type { Granularity } from '../../shared/api/stats-api.ts';
import type { Queryable } from '../db/database.ts';
import type { BlockTransaction } from '../query-log/search/block-transaction.ts';
import { type Grain, GRAIN_MS } from '../query-log/store/counts-store.ts';
import { nodesOf } from '../query-log/reading/query-log-store.ts';
import type { SumRequest } from '../query-log/sums/log-sums.ts';
import { type Bucket, partsOf, readBuckets } from './counts-reader.ts';
import { readMatchingCounts } from './matching-counts.ts';
import type { NodeSpan } from './stats-store.ts';

/** Which timeline. */
export interface TimelineRequest extends NodeSpan {
  readonly granularity: Granularity;
  readonly timezone: string;
  /** Only queries of this client or network, and of this group. */
  readonly client?: string | undefined;
  readonly group_id?: number | undefined;
}

/** Counts of the queries that are wanted. */
export async function readTimeline(
  tx: BlockTransaction,
  request: TimelineRequest,
  onDamaged: SumRequest['onDamaged'],
): Promise<Bucket[]> {
  const { client, group_id, node, ...span } = request;
  if (client === undefined && group_id === undefined) return readTimelineCounts(tx, request);
  const stepMs = GRAIN_MS[request.granularity === 'minute' ? 'm' : 'q'];
  const { nodeId } = await nodesOf(tx, { node });
  return readMatchingCounts(tx, { ...span, nodeId, stepMs, filter: { client, group_id } }, onDamaged);
}

/** Counts of all queries, or of all of a node, of spans that are no longer than a bucket, in order. */
export async function readTimelineCounts(tx: Queryable, request: TimelineRequest): Promise<Bucket[]> {
  const { nodeId } = await nodesOf(tx, { node: request.node });
  return readBuckets(tx, partsOf(request.fromMs, request.toMs, grainsOf(request)), nodeId);
}

/** Counts that are fine enough, the coarsest first. */
function grainsOf({ granularity, timezone }: TimelineRequest): readonly Grain[] {
  if (granularity === 'minute') return ['m'];
  return granularity === 'day' && timezone === 'UTC' ? ['d', 'q', 'm'] : ['q', 'm'];
}
