/**
 * Numbers of queries of the busiest clients over time. Queries are counted from the blocks of the span, in the same
 * buckets as the timeline of all queries, so that both have the same totals.
 */
import type { ClearedPeriods, Granularity } from '../../../shared/api/stats-api.ts';
import { zoneOffset } from '../../../shared/policy/time-zone.ts';
import type { LogSource } from '../reading/log-source.ts';
import { countClients, type StepSlots } from '../reading/client-slots.ts';
import { nodesOf } from '../reading/query-log-store.ts';
import { GRAIN_MS } from '../store/counts-store.ts';
import { readClientText } from '../top-lists/client-text.ts';
import { bucketStarts } from './bucket-starts.ts';
import { readCleared } from './cleared-periods.ts';
import type { NodeSpan } from './counts-reader.ts';

/** Selects clients and buckets. */
export interface ClientTimelineRequest extends NodeSpan {
  readonly granularity: Granularity;
  readonly timezone: string;
  /** Maximum number of clients that are counted separately. */
  readonly limit: number;
}

/** A client with its numbers of queries. */
export interface CountedBuckets {
  readonly ip: string;
  /** Id of the client if it identified itself by its key; null if it was identified by its address. */
  readonly clientId: number | null;
  readonly total: number;
  /** Counts by bucket. */
  readonly counts: readonly number[];
}

/** Counts by client and bucket. */
export interface LoggedClientTimeline {
  readonly cleared: ClearedPeriods;
  /** Starts of the buckets, Unix milliseconds. */
  readonly startsMs: readonly number[];
  /** The busiest clients, in descending order. */
  readonly clients: readonly CountedBuckets[];
  /** Number of queries of all other clients, by bucket. */
  readonly others: readonly number[];
}

/** The timeline of a period. */
export async function readClientTimeline(
  log: LogSource,
  { granularity, timezone, limit, ...span }: ClientTimelineRequest,
): Promise<LoggedClientTimeline> {
  const { fromMs, toMs, node } = span;
  const startsMs = bucketStarts(granularity, zoneOffset(timezone)!, fromMs, toMs);
  const slots = slotsOf(startsMs, span, GRAIN_MS[granularity === 'minute' ? 'm' : 'q']);
  return log.read(async (tx) => {
    const { nodeId } = await nodesOf(tx, { node });
    const request = {
      ...{ fromUs: fromMs * 1000, toUs: toMs * 1000, filter: {}, nodeId },
      onDamaged: log.onDamaged,
    };
    const { clients, others } = await countClients(tx, request, slots, limit);
    return {
      cleared: await readCleared(tx, span),
      startsMs,
      clients: clients.map(({ client, total, slots: counts }) => {
        const { address: ip, clientId } = readClientText(client);
        return { ip, clientId, total, counts: [...counts] };
      }),
      others: [...others.slots],
    };
  });
}

/** The index of the bucket of each step: the last bucket that starts at or before the start of the step. */
function slotsOf(
  startsMs: readonly number[],
  { fromMs, toMs }: Pick<NodeSpan, 'fromMs' | 'toMs'>,
  stepMs: number,
): StepSlots {
  const first = Math.floor(fromMs / stepMs);
  const slotOfStep = new Uint16Array(Math.max(0, Math.ceil(toMs / stepMs) - first));
  let slot = 0;
  for (let step = 0; step < slotOfStep.length; step++) {
    while ((startsMs[slot + 1] ?? Infinity) <= (first + step) * stepMs) slot++;
    slotOfStep[step] = slot;
  }
  return { stepMs, slotOfStep, slotCount: startsMs.length };
}
