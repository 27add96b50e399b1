/**
 * A few queries of a batch that are read together. The cache lines that their answers need are loaded before the first
 * query is decided (prefetching). Without this, each query would wait for each of its cache lines: memo, bucket, entry.
 * With groups, the loads of one kind follow one another for all queries, so that the processor waits for many lines at
 * the same time. Prefetching decides and writes nothing: the answering loop reads everything again, from the CPU
 * caches.
 */
import { keyFlagsOf, keyHashLow } from '../../shared/memory/cache-memory.ts';
import { ADDRESS_SIZE } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import type { Pipeline } from '../pipeline.ts';
import type { ArrivalClock } from '../query/arrival-clock.ts';
import { ParseOutcome } from '../query/parse-query.ts';
import { Query } from '../query/query.ts';
import type { ReadOutcome } from '../stages/read-message.ts';

/**
 * Number of queries per group: enough loads to keep the processor busy; more queries would not fit into its first-level
 * cache.
 */
export const GROUP_SIZE = 8;
/** Minimum number of queries for which prefetching is worthwhile. */
const MIN_QUERIES = 3;
/** Group of clients whose memo entries are prefetched: most clients are in this group. */
const DEFAULT_GROUP = 0;

/** Datagrams in slots of one buffer. */
export interface Datagrams {
  readonly slots: Uint8Array;
  /** Client address of each slot, 16 bytes. */
  readonly clients: Uint8Array;
  /** Bytes of the datagram in `slot`. */
  lengthOf(slot: number): number;
}

/** Reads and prefetches groups of queries. Each thread has one. */
export class QueryGroup {
  /** The queries; those that `read` has read are first. */
  readonly queries: readonly Query[] = Array.from({ length: GROUP_SIZE }, () => new Query());
  /** Outcome of `Pipeline.read` for each query. */
  readonly outcomes: ReadOutcome[] = Array.from({ length: GROUP_SIZE }, () => ParseOutcome.DROP);
  private readonly slotSize: number;
  private sum = 0;

  /** Creates a group for UDP datagrams in slots of `slotSize` bytes. */
  constructor({ clients }: Datagrams, slotSize: number) {
    this.slotSize = slotSize;
    for (const query of this.queries) {
      query.clientBytes = clients;
      query.protocol = Protocol.udp;
    }
  }

  /** Writes the current time into the queries of a batch of `count`; returns it in monotonic milliseconds. */
  stamp(arrivals: ArrivalClock, count: number): number {
    const { queries } = this;
    const first = queries[0]!;
    arrivals.stamp(first);
    for (let i = 1; i < GROUP_SIZE && i < count; i++) queries[i]!.copyArrival(first);
    return first.arrivedMonotonicMs;
  }

  /** Reads up to `GROUP_SIZE` slots from `first` on, of `count` in total; returns the number of queries read. */
  read(batch: Datagrams, first: number, count: number, pipeline: Pipeline): number {
    const { queries, outcomes, slotSize } = this;
    const { slots } = batch;
    const size = count - first < GROUP_SIZE ? count - first : GROUP_SIZE;
    for (let i = 0; i < size; i++) {
      const query = queries[i]!;
      const slot = first + i;
      query.clientAt = slot * ADDRESS_SIZE;
      query.begin(slots, slot * slotSize, batch.lengthOf(slot), slotSize);
      outcomes[i] = pipeline.read(query);
    }
    if (size >= MIN_QUERIES) this.touch(size, pipeline);
    return size;
  }

  /**
   * All words that the last `read` prefetched, combined with exclusive or: the compiler would remove an unused load.
   */
  get touched(): number {
    return this.sum;
  }

  /** For a message that could not be read, the data of an earlier message is prefetched. */
  private touch(size: number, { snapshot, matcher, cache }: Pipeline): void {
    const { queries } = this;
    const policyClass = snapshot.policy.groupClass(DEFAULT_GROUP);
    // One loop for each kind of cache line: code between two loads would delay the second load.
    let sum = 0;
    for (let i = 0; i < size; i++) sum ^= matcher.touch(queries[i]!.hashLow[0]!, policyClass);
    for (let i = 0; i < size; i++) sum ^= cache.touchBucket(keyLowOf(queries[i]!));
    for (let i = 0; i < size; i++) {
      const query = queries[i]!;
      sum ^= cache.touchEntry(keyLowOf(query), query.hashHigh[0]!);
    }
    this.sum = sum;
  }
}

function keyLowOf(query: Query): number {
  return keyHashLow(query.hashLow[0]!, query.qtype, keyFlagsOf(query.dnssecOk, query.checkingDisabled));
}
