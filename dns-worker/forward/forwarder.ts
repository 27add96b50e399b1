/**
 * The slow path of a query: passes questions that neither policy nor cache could answer to the resolver, and ensures
 * that each client gets exactly one reply: a stale answer if all upstreams fail (RFC 8767). `alias-follower.ts` follows
 * aliases, `answer-keeper.ts` caches answers, `request-replier.ts` writes replies.
 */
import { AliasFollower, leavesOut } from './alias-follower.ts';
import { AnswerKeeper, extendedErrorOf } from './answer-keeper.ts';
import { failedAnswer } from './answer-lifetime.ts';
import { CacheHit } from '../cache/answer-cache.ts';
import { type Query, StageResult } from '../query/query.ts';
import {
  type AskedResolver,
  type ClientQuestion,
  type ForwarderParts,
  questionOf,
  type ReplacedParts,
  WEIR,
} from './forwarder-parts.ts';
import { RequestReplier } from './request-replier.ts';
import { awaitLateAnswer } from '../resolve/late-answers.ts';
import type { AskedElsewhere, FlightOutcome } from '../resolve/node-flights.ts';
import { Nat64Discovery } from './nat64-discovery.ts';
import { type Answered, type Failed, isInconclusive, type Resolution } from '../resolve/resolution.ts';
import type { Resolver } from '../resolve/resolver.ts';
import { replyWithRcode } from '../respond/reply.ts';
import { RecentFailures } from './recent-failures.ts';
import { StaleTimer } from './serve-stale.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { DnssecStatus, QueryStatus } from '../../shared/query-log.ts';
import { type ForwardZone, POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import { WaitingClients } from './waiting-clients.ts';
import { asRefresh, type OpenRequest, type WaitingRequest } from './waiting-request.ts';

/** A client's request that waits for the answer to its question. */
interface Wait {
  readonly question: ClientQuestion;
  readonly request: OpenRequest;
  /** Timer that sends a stale answer if the upstreams take too long; null = the cache has no stale answer. */
  readonly timer: StaleTimer | null;
  /** Key in the counts of waiting clients; null = not counted. */
  readonly countedAs: number | null;
}

/** Answers waiting requests. One per resolve thread. */
export class Forwarder {
  private parts: ForwarderParts;
  /** The resolver for names without a forward zone; most questions share this object. */
  private pools: AskedResolver;
  private readonly nat64: Nat64Discovery;
  private readonly keeper: AnswerKeeper;
  private readonly replier: RequestReplier;
  /** The replier's query object. */
  private readonly query: Query;
  private readonly failures: RecentFailures;
  private readonly clients = new WaitingClients();
  private readonly aliases: AliasFollower;
  private waiting = 0;
  private whenIdle: (() => void) | undefined;

  constructor(parts: ForwarderParts) {
    this.parts = parts;
    this.pools = poolsOf(parts);
    this.nat64 = new Nat64Discovery(parts.clock);
    this.keeper = new AnswerKeeper(parts.writer, parts.settings, this.nat64);
    this.replier = new RequestReplier(parts, this.nat64);
    this.query = this.replier.query;
    this.failures = new RecentFailures(parts.clock);
    this.aliases = new AliasFollower({
      pipeline: parts.pipeline,
      replier: this.replier,
      keeper: this.keeper,
      take: (request) => this.take(request),
      isDecided: (request) => this.isDecided(request),
      resolver: () => this.parts.resolver,
      isLate: (request) => this.isLate(request),
      guarded: (request, work) => {
        try {
          work();
        } catch (error) {
          this.failRequest(request, error);
        }
      },
    });
  }

  /** Replaces parts for new requests; requests in flight finish with the previous parts. */
  use(next: ReplacedParts): void {
    if (next.resolver !== this.parts.resolver) this.nat64.clear();
    this.parts = { ...this.parts, ...next };
    this.pools = poolsOf(this.parts);
    this.keeper.settings = next.settings;
  }

  /** Takes a request whose question neither policy nor cache could answer. Never throws. */
  take(request: OpenRequest): void {
    try {
      this.start(request);
    } catch (error) {
      this.failRequest(request, error);
    }
  }

  /** An unexpected error causes SERVFAIL for that request only. */
  private failRequest(request: WaitingRequest, error: unknown): void {
    const { guard } = this.parts;
    guard.take(error);
    guard.run(() => this.replier.fail(request));
  }

  private start(request: OpenRequest): void {
    const { query } = this;
    this.replier.open(request);
    if (this.isDecided(request)) return;
    // Another client's question may have been answered since the answer thread checked the cache.
    const isShared = this.parts.settings.enabled && !query.isEcsSpecific;
    if (isShared && this.replier.answerFromCache(request, false)) return;
    const asked = questionOf(query, this.parts.networks.key(query));
    const outcome = request.kind === 'client' ? request.firstTry : null;
    const sinceMs = request.arrivedMonotonicMs;
    const question = outcome === null ? asked : { ...asked, firstTry: { outcome, sinceMs } };
    const hasStale = request.kind !== 'explain' && this.hasStale();
    if (hasStale && this.failures.has(question) && this.replier.answerFromCache(request, true)) return;
    // Requests for explanations are not limited: the result must not depend on the current load.
    const countedAs = request.kind !== 'explain' ? query.hashLow[0]! ^ query.qtype : null;
    if (countedAs !== null && !this.clients.enter(question.network, countedAs)) {
      this.refuse(request);
      return;
    }
    const waitedMs = this.parts.clock.monotonicMs() - request.arrivedMonotonicMs;
    const timer = hasStale ? new StaleTimer(waitedMs, () => this.answerLate(request)) : null;
    this.resolve({ question, request, timer, countedAs });
  }

  /** Refreshes an answer that expires soon; no client waits for it. If it fails, the cached answer is kept. */
  refresh(request: WaitingRequest): void {
    this.parts.reporter.count(Counter.CACHE_REFRESHES);
    this.askForCache(request);
  }

  /** Resolves a question only to cache the answer. */
  private askForCache(request: WaitingRequest): void {
    this.replier.open(request);
    const asked = this.nextUpstreams();
    const { zone } = asked;
    const question = questionOf(this.query, WEIR);
    this.parts.flights.resolve(this.resolverOf(asked), this.query.partition, question, (resolution) => {
      if (resolution.kind !== 'answer' || this.isReplaced(asked)) return;
      this.parts.guard.run(() => {
        this.replier.open(request);
        if ((zone?.partition ?? POOLS_PARTITION) !== this.query.partition) return;
        const upstream = upstreamNumber(resolution, zone);
        if (leavesOut(resolution)) this.aliases.followAnswer(asRefresh(request), resolution, upstream);
        else this.keeper.keepOnce(this.query, resolution, resolution.answer, upstream);
      });
    });
  }

  /** Refuses a request of a network that has used up its share. */
  private refuse(request: OpenRequest): void {
    const { query } = this;
    if (this.parts.settings.enabled && this.replier.answerFromCache(request, true)) return;
    query.status = QueryStatus.RATE_LIMITED;
    query.extendedError = ExtendedError.PROHIBITED;
    replyWithRcode(query, Rcode.REFUSED);
    this.replier.reply(request);
  }

  /** Passes the question to the resolver of its forward zone, or to that of the pools. */
  private resolve(wait: Wait): void {
    const asked = this.nextUpstreams();
    this.waiting++;
    this.parts.flights.resolve(this.resolverOf(asked), this.query.partition, wait.question, (outcome) => {
      this.continueAfter(wait, outcome, asked);
      this.waiting--;
      if (this.waiting === 0) this.whenIdle?.();
    });
  }

  private continueAfter(wait: Wait, outcome: FlightOutcome, where: AskedResolver): void {
    const { question, timer, request, countedAs } = wait;
    const next = outcome.kind === 'elsewhere' ? this.lookAgain(wait, outcome) : outcome;
    if (next === 'again') {
      this.resolve(wait);
      return;
    }
    timer?.stop();
    if (countedAs !== null) this.clients.leave(question.network, countedAs);
    if (next === 'over') return;
    const asked = timer?.hasAnswered === true ? asRefresh(request) : request;
    try {
      this.failures.note(question, next);
      if (next.kind === 'failed') this.awaitLate(request, next);
      this.finish(asked, next, question, where);
    } catch (error) {
      this.failRequest(asked, error);
    }
  }

  /** Caches an answer that arrives after the question has failed, once for all its clients. */
  private awaitLate(request: OpenRequest, failure: Failed): void {
    if (request.kind !== 'client') return;
    awaitLateAnswer(failure, () => this.parts.guard.run(() => this.askForCache(request)));
  }

  /**
   * Another thread has resolved the question: the answer is in the cache, or was passed on directly because it must not
   * be cached. Without an answer, this thread resolves the question, unless its time limit has passed.
   */
  private lookAgain({ timer, request }: Wait, { resolution }: AskedElsewhere): Resolution | 'over' | 'again' {
    try {
      this.replier.open(request);
      const isShared = this.parts.settings.enabled && !this.query.isEcsSpecific;
      const isOver =
        timer?.hasAnswered === true ||
        this.isDecided(request) ||
        (isShared && this.replier.answerFromCache(request, false));
      if (isOver) return 'over';
    } catch (error) {
      this.failRequest(request, error);
      return 'over';
    }
    if (resolution !== null) return resolution;
    if (!this.isLate(request)) return 'again';
    return { kind: 'failed', reason: 'late', rcode: Rcode.SERVFAIL, upstream: -1 };
  }

  /** Whether a request has exceeded its time limit; its client no longer waits for a reply. */
  private isLate({ arrivedMonotonicMs }: WaitingRequest): boolean {
    return this.parts.clock.monotonicMs() - arrivedMonotonicMs >= this.parts.flights.timeoutMs;
  }

  private nextUpstreams(): AskedResolver {
    const zone = this.parts.pipeline.snapshot.zones[this.query.zoneIndex];
    return zone === undefined ? this.pools : { ...this.pools, zone };
  }

  private resolverOf({ zone, resolver }: AskedResolver): Pick<Resolver, 'resolve'> {
    return zone === undefined ? resolver : this.parts.zones.of(zone);
  }

  /** Whether pools or validation have changed; answers of the previous resolvers are not cached. */
  private isReplaced({ zone, resolver }: AskedResolver): boolean {
    return zone === undefined && resolver !== this.parts.resolver;
  }

  /** Whether the cache has an expired answer that may be served. */
  private hasStale(): boolean {
    const { cache, settings } = this.parts;
    const { query } = this;
    if (!settings.enabled || settings.serveStaleSecs === 0) return false;
    return cache.answer(query, query.partition, query.arrivedMonotonicSecs, true) === CacheHit.STALE;
  }

  /**
   * Answers a client that has waited long enough with a stale answer (RFC 8767 section 5); returns whether the cache
   * had a stale answer.
   */
  private answerLate(request: OpenRequest): boolean {
    try {
      this.replier.open(request);
      return this.isDecided(request) || this.replier.answerFromCache(request, true);
    } catch (error) {
      this.failRequest(request, error);
      return true;
    }
  }

  /** Resolves when no request is waiting. */
  idle(): Promise<void> {
    if (this.waiting === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.whenIdle = resolve;
    });
  }

  /**
   * Applies current policy to an opened request. True if the request is decided: it has its reply, or waits for the
   * target of an alias.
   */
  private isDecided(request: OpenRequest): boolean {
    const result = this.aliases.decide(request);
    if (result === StageResult.ANSWERED) this.replier.reply(request);
    else if (result === StageResult.UNRESOLVED) this.aliases.follow(request);
    return result !== StageResult.CONTINUE;
  }

  private finish(
    request: WaitingRequest,
    resolution: Resolution,
    question: ClientQuestion,
    asked: AskedResolver,
  ): void {
    this.replier.open(request);
    const { zone } = asked;
    const partition = zone?.partition ?? POOLS_PARTITION;
    const isReplaced = this.isReplaced(asked);
    // The server was removed since, but the trust settings are the same: use its answer once, without caching it.
    const isLast = resolution.kind === 'answer' && !leavesOut(resolution) && asked.trust === this.parts.trust;
    // The name's zone or the pools have changed: the answer of the previous servers is obsolete.
    if (partition !== this.query.partition || (isReplaced && !isLast)) {
      if (request.kind !== 'refresh') this.take(request);
      return;
    }
    const upstream = upstreamNumber(resolution, zone);
    if (request.kind === 'explain') request.notes.passed('forward', StageResult.CONTINUE);
    if (leavesOut(resolution)) {
      if (request.kind === 'refresh' || !this.isDecided(request))
        this.aliases.followAnswer(request, resolution, upstream);
      return;
    }
    if (resolution.kind === 'answer' && this.mayBeNat64(resolution)) {
      this.learnNat64(request, resolution, question, asked);
      return;
    }
    if (resolution.kind === 'answer' && !isReplaced)
      this.keeper.keepOnce(this.query, resolution, resolution.answer, upstream);
    if (request.kind === 'refresh' || this.isDecided(request)) return;
    if (resolution.kind === 'answer') this.replier.answer(request, resolution, upstream);
    else this.replyFailure(request, resolution, question, upstream);
  }

  /** Whether an answer would be treated as private, and NAT64 prefixes must be learned first. */
  private mayBeNat64({ answer }: Answered): boolean {
    const { partition, qtype } = this.query;
    const isChecked = partition === POOLS_PARTITION && this.parts.pipeline.snapshot.rebinding.isOn;
    return isChecked && this.nat64.mustLearn(qtype, answer);
  }

  /** Learns NAT64 prefixes, then finishes the request. */
  private learnNat64(
    request: WaitingRequest,
    resolution: Answered,
    question: ClientQuestion,
    asked: AskedResolver,
  ): void {
    const { flights, resolver } = this.parts;
    this.waiting++;
    this.nat64.learn(
      (question, done) => flights.resolve(resolver, POOLS_PARTITION, question, done),
      () => {
        try {
          this.finish(request, resolution, question, asked);
        } catch (error) {
          this.failRequest(request, error);
        }
        this.waiting--;
        if (this.waiting === 0) this.whenIdle?.();
      },
    );
  }

  /** Replies with a stale answer, or with the failure if the cache has no stale answer. */
  private replyFailure(
    request: OpenRequest,
    resolution: Failed,
    question: ClientQuestion,
    upstream: number,
  ): void {
    const { query } = this;
    // A stale answer does not replace a bogus answer.
    const { enabled, serveStaleSecs } = this.parts.settings;
    const mayBeStale = enabled && serveStaleSecs > 0 && resolution.reason !== 'bogus';
    if (mayBeStale && this.replier.answerFromCache(request, true)) return;
    query.upstream = upstream;
    query.dnssec = resolution.dnssec ?? DnssecStatus.unchecked;
    if (!isInconclusive(resolution)) {
      const failure = failedAnswer(resolution.rcode, this.failures.lifetimeSecs(question, resolution));
      this.keeper.keepOnce(query, resolution, failure, upstream);
    }
    const isTimeout = resolution.reason === 'timeout' || resolution.reason === 'late';
    query.status = isTimeout ? QueryStatus.TIMEOUT : QueryStatus.SERVFAIL;
    query.extendedError = extendedErrorOf(resolution);
    replyWithRcode(query, resolution.rcode);
    this.replier.reply(request);
  }
}

function poolsOf({ resolver, trust }: ForwarderParts): AskedResolver {
  return { resolver, trust, zone: undefined };
}

/** The number, in the log, of the server that decided the outcome; 0 = no server was queried. */
function upstreamNumber({ upstream }: Resolution, zone: ForwardZone | undefined): number {
  return zone === undefined ? upstream + 1 : (zone.upstreamNumbers[upstream] ?? 0);
}
