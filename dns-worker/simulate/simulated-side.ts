/**
 * One of the two policies of a simulation: decides on logged questions with the pipeline of the DNS threads, with the
 * logged answer in place of an upstream's. Nothing is counted, cached, sent or logged.
 */
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { CacheMemory } from '../../shared/memory/cache-memory.ts';
import { COOKIE_KEYS_BYTES } from '../../shared/memory/cookie-key-layout.ts';
import { COUNTERS_BYTES } from '../../shared/memory/answer-counters.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { logRingBytes, Protocol, QueryStatus, type QueryStatusCode } from '../../shared/query-log.ts';
import { RRClass } from '../../shared/dns/iana.ts';
import { FlagsHigh, Header, skipRecord, writeQuestion, writeU16 } from '../../shared/dns/wire.ts';
import { AnswerCache } from '../cache/answer-cache.ts';
import { leadsToNames } from '../cache/chain-names.ts';
import { hasPrivateAddress } from '../cache/private-addresses.ts';
import { ServerCookies } from '../cookies/server-cookies.ts';
import { Pipeline, type PipelineRecorder } from '../pipeline.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { RateLimiter } from '../policy/rate-limiter.ts';
import { ParseOutcome, parseQuery } from '../query/parse-query.ts';
import { Query, StageResult } from '../query/query.ts';
import { Reporter } from '../report/reporter.ts';
import { ClientSightings } from '../report/sighting-writer.ts';

const BUFFER_SIZE = 65_535;
/** The pipeline needs a limiter; questions in the log have already passed the rate limit. */
const NO_LIMIT = {
  enabled: false,
  queriesPerSecond: 1,
  burstSize: 1,
  ipv4PrefixLength: 24,
  ipv6PrefixLength: 48,
  whitelist: [],
  nxdomainPerSecond: 1,
  slipRatio: 0,
  dryRun: false,
} as const;

/** A question of the log. */
export interface SimulatedQuestion {
  /** Name in lower-case wire form. */
  readonly qname: Uint8Array;
  readonly qtype: number;
  /** Addresses of clients; this client's address begins at `clientAt`. */
  readonly clients: Uint8Array;
  readonly clientAt: number;
  /** Id of the client that identified itself; absent or 0 = no id, but `clientKey` may be set. */
  readonly clientId?: number;
  readonly clientKey?: string;
  /** Records of the upstream's answer; null = irrelevant or unknown. */
  readonly answer: Uint8Array | null;
}

/** Decides with one snapshot. */
export class SimulatedSide {
  /** The last question that was decided. */
  readonly query = new Query();
  readonly pipeline: Pipeline;
  /** Whether policy allowed the name of the last question, so that its answer decided. */
  wasByName = false;
  private readonly bytes = new Uint8Array(BUFFER_SIZE);

  constructor(snapshot: OpenSnapshot) {
    this.pipeline = new Pipeline(snapshot, {
      cache: new AnswerCache(new CacheMemory(createAnswerCache(0))),
      reporter: new Reporter(new SharedArrayBuffer(COUNTERS_BYTES), new SharedArrayBuffer(logRingBytes(16))),
      sightings: new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES)),
      limiter: new RateLimiter(createRateBuckets(false, 0), NO_LIMIT),
      cookies: new ServerCookies(new SharedArrayBuffer(COOKIE_KEYS_BYTES)),
      forwardsEcs: false,
    });
    this.query.protocol = Protocol.tcp;
  }

  /** The status for the log; ALLOWED for any answer of an upstream. */
  decide(question: SimulatedQuestion): QueryStatusCode {
    const { query, pipeline } = this;
    this.wasByName = true;
    if (!this.open(question)) return QueryStatus.REFUSED;
    pipeline.reopen(query);
    if (pipeline.decideAgain(query) !== StageResult.CONTINUE) return query.status;
    this.wasByName = false;
    query.status = QueryStatus.ALLOWED;
    if (question.answer === null) return query.status;
    this.answer(question.answer);
    pipeline.checkAnswer(query);
    return query.status;
  }

  /**
   * Runs the stages on the question up to the upstreams; returns the reply, which is empty if upstreams would be
   * queried.
   */
  explain(question: SimulatedQuestion, recorder: PipelineRecorder): Uint8Array {
    const { query, pipeline, bytes } = this;
    this.open(question);
    const result = pipeline.explain(query, recorder);
    return bytes.slice(0, result === StageResult.ANSWERED ? query.replyLength : 0);
  }

  /** Puts the question into the slot. */
  private open(question: SimulatedQuestion): boolean {
    const { qname, qtype, clients, clientAt, clientId = 0, clientKey = '' } = question;
    const { query, bytes, pipeline } = this;
    const { seedLow, seedHigh } = pipeline.snapshot.rules;
    bytes.fill(0, 0, Header.SIZE);
    bytes[Header.FLAGS_HIGH] = FlagsHigh.RD;
    writeU16(bytes, Header.QDCOUNT, 1);
    const length = writeQuestion(bytes, qname, qtype, RRClass.IN);
    query.clientBytes = clients;
    query.clientAt = clientAt;
    query.clientKey = clientId === 0 ? clientKey : pipeline.snapshot.keys.keyOf(clientId);
    query.begin(bytes, 0, length, BUFFER_SIZE);
    return parseQuery(query, seedLow, seedHigh) === ParseOutcome.OK;
  }

  /** Puts the answer after the question, as if an upstream had sent it. */
  private answer(records: Uint8Array): void {
    const { query, bytes } = this;
    bytes.set(records, query.questionEnd);
    query.answersAt = query.questionEnd;
    query.answersLength = records.length;
    const answer = { body: records, answerCount: countRecords(records) };
    query.answersCount = answer.answerCount;
    query.hasTargets = leadsToNames(answer);
    query.hasPrivateAddress = hasPrivateAddress(answer);
  }
}

/** Number of complete records. */
function countRecords(records: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < records.length; count++) at = skipRecord(records, at, records.length);
  return count;
}
