/**
 * A complete forwarder whose upstreams and clock the test controls. A question waits until the test answers it, so
 * other events can happen before the answer.
 */
import { AnswerCache } from '../../../dns-worker/cache/answer-cache.ts';
import { CacheWriter } from '../../../dns-worker/cache/cache-writer.ts';
import { ClientNetworks } from '../../../dns-worker/policy/client-networks.ts';
import { ClientSightings } from '../../../dns-worker/report/sighting-writer.ts';
import { Forwarder } from '../../../dns-worker/forward/forwarder.ts';
import { Pipeline } from '../../../dns-worker/pipeline.ts';
import type { Query } from '../../../dns-worker/query/query.ts';
import { RateLimiter } from '../../../dns-worker/policy/rate-limiter.ts';
import { Reporter } from '../../../dns-worker/report/reporter.ts';
import { FlightOutcomes } from '../../../dns-worker/resolve/flight-outcomes.ts';
import { NodeFlights } from '../../../dns-worker/resolve/node-flights.ts';
import { QuestionClaims } from '../../../dns-worker/resolve/question-claims.ts';
import type { Question, Resolution } from '../../../dns-worker/resolve/resolver.ts';
import { readResponse } from '../../../dns-worker/resolve/response/response-reader.ts';
import { ZoneResolvers } from '../../../dns-worker/resolve/zone-resolvers.ts';
import { openSnapshot } from '../../../dns-worker/policy/open-snapshot.ts';
import { ThreadGuard } from '../../../dns-worker/report/thread-guard.ts';
import type { ClientRequest } from '../../../dns-worker/forward/waiting-request.ts';
import type { LivePolicy } from '../../../control-plane/policy/change/runtime-state.ts';
import { createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import { CacheMemory } from '../../../shared/memory/cache-memory.ts';
import { ClaimArea, createClaimTable } from '../../../shared/memory/claim-table.ts';
import { createOutcomeRings } from '../../../shared/memory/outcome-rings.ts';
import { CLIENT_SIGHTINGS_BYTES } from '../../../shared/memory/sighting-layout.ts';
import { COUNTERS_BYTES } from '../../../shared/memory/answer-counters.ts';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { nameFromText, nameToText } from '../../../shared/dns/name.ts';
import type { WorkerSettings } from '../../../shared/threads/messages.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { Protocol, QUERY_STATUS_NAMES, logRingBytes } from '../../../shared/query-log.ts';
import { createRateBuckets } from '../../../shared/memory/rate-buckets.ts';
import { NOT_PASSED } from '../../../shared/memory/miss-ring.ts';
import { octets, type TestResponse, response, u16 } from '../dns/built-messages.ts';
import { MemoryLogger } from './memory-logger.ts';
import { type ListText, type OtherRows, snapshotOf } from './test-lists.ts';
import { rateLimitOf } from './test-rate-limit.ts';
import { cookiesAt } from './cookies-of-tests.ts';
import { TestClock } from './test-clock.ts';

/** A client's query in flight, and its result. */
export interface AskedQuery {
  /** The reply; null until it is sent. */
  reply: Uint8Array | null;
  replies: number;
}

/** Log entry of a query. */
export interface LoggedAnswer {
  readonly name: string;
  readonly status: string;
  readonly rcode: number;
  readonly groupId: number;
  readonly ruleOrigin: number;
  /** Number of the rule; -1 = none. */
  readonly rule: number;
  readonly upstream: number;
}

/** Options of a client's query. */
export interface AskOptions {
  readonly qtype?: number;
  readonly client?: string;
  readonly edns?: boolean;
  readonly dnssecOk?: boolean;
  readonly checkingDisabled?: boolean;
  /** Sets AD (RFC 6840 section 5.7). */
  readonly wantsAuthentic?: boolean;
  /** See `ClientRequest`. */
  readonly passedVersion?: number;
}

class KeepingReporter extends Reporter {
  readonly logged: LoggedAnswer[] = [];

  override answered(query: Query, snapshotVersion: number): void {
    super.answered(query, snapshotVersion);
    this.logged.push({
      name: nameToText(query.qname.slice(0, query.qnameLength)),
      status: QUERY_STATUS_NAMES[query.status]!,
      rcode: query.rcode,
      groupId: query.groupId,
      ruleOrigin: query.ruleOrigin,
      rule: query.ruleAttribute - 1,
      upstream: query.upstream,
    });
  }
}

/** A question sent to an upstream. */
export interface HeldQuestion {
  readonly question: Question;
  readonly done: (resolution: Resolution) => void;
}

const CACHE_SETTINGS: WorkerSettings['cache'] = {
  enabled: true,
  minTtlSecs: 0,
  maxTtlSecs: 86_400,
  negativeMaxTtlSecs: 3600,
  serveStaleSecs: 86_400,
  optimisticRefresh: false,
};
const HEALTH_CHECK = {
  enabled: false,
  intervalSecs: 60,
  timeoutMs: 1000,
  failureThreshold: 3,
  successThreshold: 2,
};

const MAX_WORKERS = 16;

/** Parts that all workers of a node share. */
export class TestNode {
  readonly clock = new TestClock();
  readonly cache = createAnswerCache(262_144);
  readonly claims = createClaimTable(1);
  readonly outcomes = createOutcomeRings(MAX_WORKERS);
  workers = 0;
  /** `dns.query_timeout_ms` */
  timeoutMs = 5000;
}

/** One forwarder of a worker, its pipeline and its view of the cache. */
export class Forwarding {
  readonly clock: TestClock;
  /** Unanswered questions, the oldest first. */
  readonly held: HeldQuestion[] = [];
  readonly memory: CacheMemory;
  readonly cache: AnswerCache;
  readonly counters = new SharedArrayBuffer(COUNTERS_BYTES);
  readonly reporter = new KeepingReporter(this.counters, new SharedArrayBuffer(logRingBytes(64)));
  readonly logger = new MemoryLogger();
  readonly pipeline: Pipeline;
  readonly forwarder: Forwarder;
  private version = 1;

  /** `node`: parts that all workers share. */
  constructor(settings: Partial<WorkerSettings['cache']> = {}, node: TestNode = new TestNode()) {
    this.clock = node.clock;
    this.memory = new CacheMemory(node.cache);
    this.cache = new AnswerCache(this.memory);
    const worker = node.workers++;
    const claimParts = { memory: node.claims, worker, clock: this.clock, longestMs: node.timeoutMs };
    this.pipeline = new Pipeline(openSnapshot(snapshotOf([])), {
      cache: this.cache,
      reporter: this.reporter,
      sightings: new ClientSightings(new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES)),
      limiter: new RateLimiter(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
      cookies: cookiesAt(0),
      forwardsEcs: false,
    });
    const zoneSettings = { queryTimeoutMs: 1, bootstrap: [], healthCheck: HEALTH_CHECK };
    this.forwarder = new Forwarder({
      resolver: { resolve: (question, done) => this.held.push({ question, done }) },
      zones: new ZoneResolvers(zoneSettings, this.clock, new MemoryLogger()),
      flights: new NodeFlights(
        {
          claims: new QuestionClaims(claimParts, ClaimArea.CLIENTS),
          outcomes: new FlightOutcomes({ memory: node.outcomes, worker, settingsVersion: 0 }),
        },
        node.timeoutMs,
        new MemoryLogger(),
      ),
      pipeline: this.pipeline,
      cache: this.cache,
      writer: new CacheWriter(this.memory, worker),
      reporter: this.reporter,
      guard: new ThreadGuard(this.reporter, this.clock, this.logger),
      clock: this.clock,
      networks: new ClientNetworks(createRateBuckets(false, 0), rateLimitOf({ enabled: false })),
      settings: { ...CACHE_SETTINGS, ...settings },
      trust: null,
    });
  }

  /** Activates this policy. */
  use(lists: readonly ListText[], rows: OtherRows = {}, live: Partial<LivePolicy> = {}): void {
    this.pipeline.replaceSnapshot(openSnapshot(snapshotOf(lists, rows, ++this.version, live)));
  }

  /** Passes the forwarder a query that the answer thread could not answer. */
  ask(
    name: string,
    {
      qtype = 1,
      client = '192.0.2.1',
      edns = false,
      dnssecOk = false,
      checkingDisabled = false,
      wantsAuthentic = false,
      passedVersion = NOT_PASSED,
    }: AskOptions = {},
  ): AskedQuery {
    const asked: AskedQuery = { reply: null, replies: 0 };
    const request: ClientRequest = {
      kind: 'client',
      isOwn: false,
      message: octets(
        [0x12, 0x34, 1, (wantsAuthentic ? 0x20 : 0) | (checkingDisabled ? 0x10 : 0), 0, 1, 0, 0, 0, 0, 0, 0],
        nameFromText(name)!,
        u16(qtype),
        u16(1),
      ),
      client: addressFromText(client)!,
      clientKey: '',
      protocol: Protocol.tcp,
      arrivedMs: this.clock.nowMs(),
      arrivedMonotonicMs: this.clock.monotonicMs(),
      udpSize: edns || dnssecOk ? 1232 : 0,
      dnssecOk,
      ecs: null,
      cookie: null,
      hasValidCookie: false,
      streamOptions: 0,
      isRateLimited: false,
      firstTry: null,
      passedVersion,
      send: (reply) => {
        asked.reply = reply.slice();
        asked.replies++;
      },
    };
    this.forwarder.take(request);
    return asked;
  }

  /** Answers the oldest unanswered question, as an upstream would. */
  answer(sections: TestResponse): void {
    const { question, done } = this.held.shift()!;
    this.answerTo({ question, done }, sections);
  }

  /** Answers the newest question. */
  answerLast(sections: TestResponse): void {
    this.answerTo(this.held.pop()!, sections);
  }

  private answerTo({ question, done }: HeldQuestion, sections: TestResponse): void {
    const reading = readResponse(response(question, sections), question);
    if (reading.kind !== 'answer') throw new Error(`answer: ${JSON.stringify(reading)}`);
    done({ kind: 'answer', answer: reading.answer, upstream: 0 });
  }

  /** Ends the oldest unanswered question with this result. */
  settle(resolution: Resolution): void {
    this.held.shift()!.done(resolution);
  }

  /** Fails all unanswered questions, so that no timer outlives the test. */
  [Symbol.dispose](): void {
    while (this.held.length > 0) this.settle({ kind: 'failed', reason: 'network', rcode: 2, upstream: -1 });
  }

  /** The last log entry. */
  get lastLogged(): LoggedAnswer | undefined {
    return this.reporter.logged.at(-1);
  }
}

/** Response code and answers of a reply. */
export function replyOf({ reply }: AskedQuery): { rcode: string; answers: [string, unknown][] } | null {
  if (reply === null) return null;
  const { rcode, answers } = decodeMessage(reply) as unknown as {
    rcode: string;
    answers: { type: string; data: unknown }[];
  };
  return { rcode, answers: answers.map(({ type, data }) => [type, data]) };
}
