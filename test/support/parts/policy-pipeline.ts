/** A pipeline over compiled lists and manual rules, with a cache, queried for one name at a time. */
import { AnswerCache } from '../../../dns-worker/cache/answer-cache.ts';
import { CacheMemory } from '../../../shared/memory/cache-memory.ts';
import { CacheWriter } from '../../../dns-worker/cache/cache-writer.ts';
import { ClientSightings } from '../../../dns-worker/report/sighting-writer.ts';
import { Pipeline } from '../../../dns-worker/pipeline.ts';
import { Query } from '../../../dns-worker/query/query.ts';
import { RateLimiter } from '../../../dns-worker/policy/rate-limiter.ts';
import { Reporter } from '../../../dns-worker/report/reporter.ts';
import { readResponse } from '../../../dns-worker/resolve/response/response-reader.ts';
import { type OpenSnapshot, openSnapshot } from '../../../dns-worker/policy/open-snapshot.ts';
import { createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import { createRateBuckets } from '../../../shared/memory/rate-buckets.ts';
import { rateLimitOf } from './test-rate-limit.ts';
import { cookiesAt } from './cookies-of-tests.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../../shared/memory/sighting-layout.ts';
import { COUNTERS_BYTES } from '../../../shared/memory/answer-counters.ts';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { QUERY_STATUS_NAMES, logRingBytes } from '../../../shared/query-log.ts';
import { type TestRecord, question, response } from '../dns/built-messages.ts';
import { type ListText, type OtherRows, snapshotOf, queryFor } from './test-lists.ts';
import type { LivePolicy } from '../../../control-plane/policy/change/runtime-state.ts';

/** Decision about a question. */
export interface AskedName {
  readonly query: Query;
  readonly result: number;
  readonly status: string;
}

const NOW = 1_800_000_000;

/** A pipeline, its cache and its counters. It blocks nothing until `use()` is called. */
export class PolicyPipeline {
  readonly memory = new CacheMemory(createAnswerCache(262_144));
  readonly countersMemory = new SharedArrayBuffer(COUNTERS_BYTES);
  readonly reporter = new Reporter(this.countersMemory, new SharedArrayBuffer(logRingBytes(16)));
  readonly pipeline = new Pipeline(openSnapshot(snapshotOf([])), {
    cache: new AnswerCache(this.memory),
    reporter: this.reporter,
    sightings: new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES)),
    limiter: new RateLimiter(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
    cookies: cookiesAt(NOW),
    forwardsEcs: false,
  });
  /** Version of the active snapshot. */
  version = 0;

  /** Activates these lists and rows. */
  use(lists: readonly ListText[], rows: OtherRows = {}, live: Partial<LivePolicy> = {}): OpenSnapshot {
    const snapshot = openSnapshot(snapshotOf(lists, rows, ++this.version, live));
    this.pipeline.replaceSnapshot(snapshot);
    return snapshot;
  }

  /** Stores the answer of an upstream in the cache. */
  cache(name: string, qtype: number, answers: TestRecord[]): void {
    const asked = question(name, qtype);
    const read = readResponse(response(asked, { answers }), asked);
    if (read.kind !== 'answer') throw new Error(`read answer: ${JSON.stringify(read)}`);
    const query = queryFor(name, this.pipeline.snapshot, qtype);
    const key = { qname: asked.qname, nameLow: query.hashLow[0]!, nameHigh: query.hashHigh[0]! };
    new CacheWriter(this.memory, 0).store(
      { ...key, qtype, qclass: 1, dnssecOk: false, checkingDisabled: false, partition: 0 },
      read.answer,
      { storedAtSecs: NOW, expiresAtSecs: NOW + 300, staleUntilSecs: NOW + 300, dnssec: 0, upstream: 1 },
    );
  }

  /** Sends a query over UDP. */
  ask(name: string, qtype = 1, client = '192.0.2.1'): AskedName {
    const wire = nameFromText(name)!;
    const bytes = new Uint8Array(2048);
    bytes.set([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    bytes.set(wire, 12);
    bytes.set([0, qtype, 0, 1], 12 + wire.length);
    const query = new Query();
    query.clientBytes = addressFromText(client)!;
    query.begin(bytes, 0, 16 + wire.length, bytes.length);
    query.arrivedMonotonicSecs = NOW;
    const result = this.pipeline.run(query);
    return { query, result, status: QUERY_STATUS_NAMES[query.status]! };
  }
}

/** Response code and answers of the reply. */
export function sent({ query }: AskedName): unknown {
  const { rcode, answers } = decodeMessage(query.bytes.slice(0, query.replyLength)) as {
    rcode?: string;
    answers?: { type: string; data: unknown }[];
  };
  return { rcode, answers: (answers ?? []).map(({ type, data }) => [type, data]) };
}
