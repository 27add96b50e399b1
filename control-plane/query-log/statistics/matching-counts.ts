/**
 * Counts of the queries of one client, network or group over time. Unlike the counts of all queries, these are not
 * stored, so they are computed from the blocks of the span.
 */
import { isBlockedStatus, QueryStatus } from '../../../shared/query-log.ts';
import type { BlockReader } from '../block/block-reader.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import { clientTest, type QueryFilter } from '../search/query-conditions.ts';
import { type BlockUse, forEachBlock, type SumRequest } from '../sums/log-sums.ts';
import type { Bucket } from './counts-reader.ts';

/** Queries to count, and the granularity. */
export interface MatchingRequest {
  /** [fromMs, toMs), Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Length of a slot; slots start at multiples of this length. */
  readonly stepMs: number;
  readonly filter: Pick<QueryFilter, 'client' | 'group_id'>;
  /** Only queries that this node answered. */
  readonly nodeId: number | undefined;
}

const TIMES_AND_OUTCOMES: BlockUse = {
  fullPieces: ['times', 'outcomeOf'],
  rowPieces: ['times', 'outcomeOf'],
  usesNames: false,
};

/** Counts of each slot with queries, in order. */
export async function readMatchingCounts(
  tx: BlockTransaction,
  { fromMs, toMs, stepMs, filter, nodeId }: MatchingRequest,
  onDamaged: SumRequest['onDamaged'],
): Promise<Bucket[]> {
  const request = { fromUs: fromMs * 1000, toUs: toMs * 1000, filter, nodeId, onDamaged };
  const isWanted = clientTest(filter) ?? (() => true);
  const slots = new Slots(stepMs);
  await forEachBlock(tx, request, TIMES_AND_OUTCOMES, ({ reader }, rows) => {
    const { clients, repeats } = reader.head;
    const times = reader.times();
    const add = slots.adderFor(reader);
    for (const row of rows ?? times.keys()) add(row, 1);
    // During a flood, a row also represents queries of other clients (repeats), so these are counted separately.
    repeats?.rows.forEach((row, entry) => {
      const isWithin = times[row]! >= request.fromUs && times[row]! < request.toUs;
      if (isWithin && isWanted(clients[repeats.clients[entry]!]!)) add(row, repeats.queries[entry]!);
    });
  });
  return slots.inOrder();
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Counts by slot. */
class Slots {
  private readonly stepMs: number;
  private readonly slots = new Map<number, Mutable<Bucket>>();

  constructor(stepMs: number) {
    this.stepMs = stepMs;
  }

  /** Returns a function that adds queries to the slot of a row, by the outcome of that row. */
  adderFor(reader: BlockReader): (row: number, queries: number) => void {
    const kinds = reader.head.outcomes.map(([, status, , , , fromCache, upstream]) => {
      const isBlocked = isBlockedStatus(QueryStatus[status]);
      const isCached = fromCache && !isBlocked;
      const isForwarded = upstream !== null && !fromCache && !isBlocked;
      return { isBlocked, isCached, isForwarded, isLimited: status === 'RATE_LIMITED' };
    });
    const times = reader.times();
    const outcomeOf = reader.outcomeOf();
    return (row, queries) => {
      const slot = this.slotAt(times[row]! / 1000);
      const kind = kinds[outcomeOf[row]!]!;
      slot.queries += queries;
      if (kind.isBlocked) slot.blocked += queries;
      if (kind.isCached) slot.cached += queries;
      if (kind.isForwarded) slot.forwarded += queries;
      if (kind.isLimited) slot.rateLimited += queries;
    };
  }

  inOrder(): Bucket[] {
    return [...this.slots.values()].sort((a, b) => a.startMs - b.startMs);
  }

  private slotAt(timeMs: number): Mutable<Bucket> {
    const startMs = Math.floor(timeMs / this.stepMs) * this.stepMs;
    let slot = this.slots.get(startMs);
    if (slot === undefined) {
      slot = { startMs, queries: 0, blocked: 0, cached: 0, forwarded: 0, rateLimited: 0 };
      this.slots.set(startMs, slot);
    }
    return slot;
  }
}
