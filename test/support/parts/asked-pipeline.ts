/** A pipeline over local records and question flags, queried with real messages. */
import { AnswerCache } from '../../../dns-worker/cache/answer-cache.ts';
import { CacheMemory } from '../../../shared/memory/cache-memory.ts';
import { ClientSightings } from '../../../dns-worker/report/sighting-writer.ts';
import { Pipeline } from '../../../dns-worker/pipeline.ts';
import { Query, StageResult } from '../../../dns-worker/query/query.ts';
import { RateLimiter } from '../../../dns-worker/policy/rate-limiter.ts';
import { Reporter } from '../../../dns-worker/report/reporter.ts';
import { openSnapshot } from '../../../dns-worker/policy/open-snapshot.ts';
import type { LivePolicy } from '../../../control-plane/policy/change/runtime-state.ts';
import type { PolicyLocalRecord } from '../../../control-plane/policy/change/rows.ts';
import { createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../../shared/memory/sighting-layout.ts';
import { COUNTERS_BYTES } from '../../../shared/memory/answer-counters.ts';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { readLocalRecordLine } from '../../../shared/policy/local-record.ts';
import { logRingBytes, Protocol, QUERY_STATUS_NAMES } from '../../../shared/query-log.ts';
import { createRateBuckets } from '../../../shared/memory/rate-buckets.ts';
import { rateLimitOf } from './test-rate-limit.ts';
import { cookiesAt } from './cookies-of-tests.ts';
import { snapshotOf } from './test-lists.ts';
import { query as queryMessage } from '../dns/dns-message.ts';
import type { TypeSpec } from '../dns/dns-message.ts';

/** Decision, and the reply that would be sent. */
export interface PipelineAnswer {
  readonly result: 'continue' | 'answered' | 'dropped' | 'unresolved';
  readonly status: string;
  readonly rcode: string;
  readonly aa: boolean;
  readonly tc: boolean;
  /** `name TYPE data`. */
  readonly answers: readonly string[];
  readonly authorities: readonly string[];
  /** Target of an alias that the pipeline does not follow; '' = none. */
  readonly target: string;
}

const RESULTS = ['continue', 'answered', 'dropped', 'unresolved'] as const;

/**
 * A record in the API's form, parsed from a line as in the configuration; ` @zone` at the end of the line sets the
 * record's domain.
 */
export function apiRecord(line: string, index: number): PolicyLocalRecord {
  const [text = '', domain = ''] = line.split(' @');
  const record = readLocalRecordLine(text);
  if (typeof record === 'string') throw new Error(`read record ${line}: expected ${record}`);
  return { id: index + 1, domain, ...record };
}

/** A pipeline with these records. */
export function pipelineWith(
  records: readonly string[],
  live: Partial<LivePolicy> = {},
  lists: readonly string[] = [],
): Pipeline {
  const texts = lists.map((text) => ({ text, reading: { kind: 'block', subdomains: false } as const }));
  const snapshot = openSnapshot(snapshotOf(texts, { localRecords: records.map(apiRecord) }, 1, live));
  const cache = new AnswerCache(new CacheMemory(createAnswerCache(0)));
  const reporter = new Reporter(
    new SharedArrayBuffer(COUNTERS_BYTES),
    new SharedArrayBuffer(logRingBytes(64)),
  );
  return new Pipeline(snapshot, {
    cache,
    reporter,
    sightings: new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES)),
    limiter: new RateLimiter(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
    cookies: cookiesAt(0),
    forwardsEcs: false,
  });
}

/** Queries a pipeline over UDP or TCP. */
export function ask(
  pipeline: Pipeline,
  name: string,
  type: TypeSpec = 'A',
  options: { udpSize?: number; tcp?: boolean } = {},
): PipelineAnswer {
  const { udpSize, tcp = false } = options;
  const message = queryMessage(name, type, udpSize === undefined ? {} : { edns: { udpSize } });
  const bytes = new Uint8Array(tcp ? 65_535 : 2048);
  bytes.set(message);
  const query = new Query();
  query.protocol = tcp ? Protocol.tcp : Protocol.udp;
  query.begin(bytes, 0, message.length, bytes.length);
  const result = pipeline.run(query);
  const target = query.aliasLength === 0 ? '' : nameToText(query.alias);
  const status = QUERY_STATUS_NAMES[query.status]!;
  if (result !== StageResult.ANSWERED)
    return {
      result: RESULTS[result],
      status,
      rcode: '',
      aa: false,
      tc: false,
      answers: [],
      authorities: [],
      target,
    };
  const reply = decodeMessage(bytes.slice(0, query.replyLength));
  if (reply === null) throw new Error(`ask ${name}: the reply is malformed`);
  return {
    result: RESULTS[result],
    status,
    rcode: (reply as { rcode?: string }).rcode ?? '',
    aa: reply.flag_aa,
    tc: reply.flag_tc,
    answers: (reply.answers ?? []).map(shown),
    authorities: (reply.authorities ?? []).map(shown),
    target,
  };
}

function shown(record: { name: string; type: string; data?: unknown }): string {
  const data = Array.isArray(record.data) ? record.data.map(String).join('') : record.data;
  const text = typeof data === 'object' && data !== null ? JSON.stringify(data) : String(data);
  return record.type === 'SOA' ? `${record.name} SOA` : `${record.name} ${record.type} ${text}`;
}
