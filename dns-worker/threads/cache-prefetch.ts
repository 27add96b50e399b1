/**
 * Touches the memory that the queries of a batch will be answered from. One by one, each query would wait for each of
 * its cache lines: memo, bucket, entry. Here the loads of one kind follow one another for all queries, so that the
 * processor waits for many lines at once. Decides and writes nothing: the answering loop reads everything again from
 * warm lines.
 */
import { keyFlagsOf, keyHashLow } from '../../shared/memory/cache-memory.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { Judge } from '../policy/judge.ts';
import { ParseOutcome, parseQuery } from '../query/parse-query.ts';
import { Query } from '../query/query.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';

/** Smaller batches gain nothing. */
const FEWEST = 3;
/** Group whose class the memo is asked for: most clients are in it. */
const DEFAULT_GROUP = 0;

/** Datagrams that lie in slots of one buffer. */
export interface Datagrams {
  readonly slots: Uint8Array;
  /** Bytes of the datagram in `slot`. */
  lengthOf(slot: number): number;
}

/** One per thread. */
export class CachePrefetch {
  private readonly slotSize: number;
  private readonly query = new Query();
  /** Of each readable query: low lane of its name; both lanes of its key in the cache. */
  private readonly nameLows: Int32Array;
  private readonly keyLows: Int32Array;
  private readonly keyHighs: Int32Array;
  private sum = 0;

  /** For batches of up to `batchSize` datagrams in slots of `slotSize` bytes. */
  constructor(batchSize: number, slotSize: number) {
    this.slotSize = slotSize;
    this.nameLows = new Int32Array(batchSize);
    this.keyLows = new Int32Array(batchSize);
    this.keyHighs = new Int32Array(batchSize);
  }

  /** Touches what the first `count` slots ask for; returns how many of them can be read. */
  touch(batch: Datagrams, count: number, snapshot: OpenSnapshot, judge: Judge, cache: AnswerCache): number {
    if (count < FEWEST) return 0;
    const readable = this.hash(batch, count, snapshot);
    const { nameLows, keyLows, keyHighs } = this;
    const policyClass = snapshot.policy.groupClass(DEFAULT_GROUP);
    // A loop for each kind of line, however short: code between two loads delays the second one.
    let sum = 0;
    for (let i = 0; i < readable; i++) sum ^= judge.touch(nameLows[i]!, policyClass);
    for (let i = 0; i < readable; i++) sum ^= cache.touchBucket(keyLows[i]!);
    for (let i = 0; i < readable; i++) sum ^= cache.touchEntry(keyLows[i]!, keyHighs[i]!);
    this.sum = sum;
    return readable;
  }

  /** All words of the last batch, exclusive or: the compiler would drop an unused load. */
  get touched(): number {
    return this.sum;
  }

  /** Hashes the names in addition to the pipeline, which costs less than storing 64 parsed queries. */
  private hash(batch: Datagrams, count: number, { rules }: OpenSnapshot): number {
    const { query, nameLows, keyLows, keyHighs } = this;
    if (query.bytes !== batch.slots) query.begin(batch.slots, 0, 0, 0);
    let readable = 0;
    for (let slot = 0; slot < count; slot++) {
      query.at = slot * this.slotSize;
      query.length = batch.lengthOf(slot);
      query.hasEdns = false;
      query.dnssecOk = false;
      if (parseQuery(query, rules.seedLow, rules.seedHigh) !== ParseOutcome.OK) continue;
      const low = query.hashLow[0]!;
      nameLows[readable] = low;
      keyLows[readable] = keyHashLow(low, query.qtype, keyFlagsOf(query.dnssecOk, query.checkingDisabled));
      keyHighs[readable] = query.hashHigh[0]!;
      readable++;
    }
    return readable;
  }
}
