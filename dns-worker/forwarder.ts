/**
 * The slow way of a query: asks the resolver for what neither policy nor cache could answer, keeps the
 * answer in the shared cache, and replies to the client, with a stale answer where no upstream helped
 * (RFC 8767). Where the reply goes is the caller's business.
 */
import type { Clock } from '../shared/clock.ts';
import { Counter } from '../shared/counters.ts';
import { ExtendedError, Rcode } from '../shared/dns/iana.ts';
import type { WorkerSettings } from '../shared/messages.ts';
import { DnssecStatus, Protocol, QueryStatus } from '../shared/query-log.ts';
import { type ForwardZone, POOLS_PARTITION } from '../shared/snapshot/forward-zone.ts';
import { clampTtls, failedAnswer, lifetimeSecs } from './answer-lifetime.ts';
import { leadsToNames } from './answer-names.ts';
import { type AnswerCache, CacheHit } from './cache/answer-cache.ts';
import type { CacheWriter } from './cache/cache-writer.ts';
import { ParseOutcome, parseQuery } from './parse-query.ts';
import type { Pipeline, PipelineRecorder } from './pipeline.ts';
import { hasPrivateAddress } from './private-addresses.ts';
import { NO_EDE, Query, Verdict } from './query.ts';
import type { Reporter } from './report/reporter.ts';
import {
  type Alias,
  aliasOf,
  type AnswerSections,
  joinAnswers,
  questionForTarget,
  type TargetAnswer,
  targetAnswerOf,
} from './resolve/follow-alias.ts';
import type { CacheableAnswer } from './resolve/response-reader.ts';
import type { Question, Resolution, Resolver } from './resolve/resolver.ts';
import type { ZoneResolvers } from './resolve/zone-resolvers.ts';
import { authenticFlag, finishReply, replyWithRcode } from './respond/reply.ts';
import { RecentFailures, StaleTimer } from './serve-stale.ts';
import { forwardZoneStage } from './stages/forward-zone.ts';

/** A request that waits for the resolver; every buffer is its own. */
export interface WaitingRequest {
  /** Header and question at least. */
  readonly message: Uint8Array;
  /** 16 bytes. */
  readonly client: Uint8Array;
  /** `Protocol`. */
  readonly protocol: number;
  /** Unix milliseconds. */
  readonly arrivedMs: number;
  /** `Clock.monotonicMs` */
  readonly arrivedMonotonicMs: number;
  /** 0 = no EDNS. */
  readonly udpSize: number;
  readonly dnssecOk: boolean;
  /** A stage says that the qname stands for another name, see `Pipeline.findAlias`. */
  readonly hasAlias: boolean;
  /** A stale answer was given meanwhile: what comes now is for the cache only. */
  readonly isAnswered?: boolean;
  /** Over its network's limit, and answered in a dry run. */
  readonly isRateLimited: boolean;
  /** Where the answer is explained rather than sent: hears of its checks, and nothing is logged or counted. */
  readonly explained?: PipelineRecorder & { answered(query: Query): void };
  /** Where the question is a step on the way to an answer: takes it, unjudged, and nothing is sent or logged. */
  readonly takeStep?: (query: Query) => void;
  /** Takes the reply; the bytes are good only during the call. */
  send(reply: Uint8Array): void;
}

const SCRATCH_SIZE = 65_535;
/** Failures that mean that nobody could be asked. */
const NO_REACH: ReadonlySet<string> = new Set(['timeout', 'network', 'no-upstreams']);

/** Parts that a forwarder works with. */
export interface ForwarderParts {
  /** Of the pools, with validation before it or not; and of each forward zone, never validated. */
  readonly resolver: Pick<Resolver, 'resolve'>;
  readonly zones: ZoneResolvers;
  readonly pipeline: Pipeline;
  readonly cache: AnswerCache;
  readonly writer: CacheWriter;
  readonly reporter: Reporter;
  readonly clock: Clock;
  readonly settings: WorkerSettings['cache'];
}

/** Answers waiting requests. One a resolve thread. */
export class Forwarder {
  private readonly parts: ForwarderParts;
  private readonly query = new Query();
  private readonly scratch = new Uint8Array(SCRATCH_SIZE);
  /** The outcome that was kept last: one outcome serves, one after the other, every client that asked. */
  private kept: Resolution | null = null;
  private readonly failures: RecentFailures;
  private waiting = 0;
  private whenIdle: (() => void) | undefined;

  constructor(parts: ForwarderParts) {
    this.parts = parts;
    this.failures = new RecentFailures(parts.clock);
  }

  /** Takes a request whose question neither policy nor cache could answer. */
  take(request: WaitingRequest): void {
    const { query } = this;
    this.open(request);
    if (request.hasAlias && this.takeAlias(request)) return;
    // Another client's question may have been answered since the answer thread looked.
    if (this.parts.settings.enabled && this.answerFromCache(request, false)) return;
    const question = questionOf(query);
    const hasStale = request.explained === undefined && this.hasStale();
    if (hasStale && this.failures.has(question) && this.answerFromCache(request, true)) return;
    this.resolve(question, hasStale ? new StaleTimer(() => this.answerLate(request)) : null, request);
  }

  /** Asks again for an answer that ends soon; nobody waits for it, and a failure leaves what there is. */
  refresh(request: WaitingRequest): void {
    this.open(request);
    this.parts.reporter.count(Counter.CACHE_REFRESHES);
    const zone = this.zoneOfQuestion();
    this.resolverOf(zone).resolve(questionOf(this.query), (resolution) => {
      if (resolution.kind !== 'answer') return;
      this.open(request);
      if ((zone?.partition ?? POOLS_PARTITION) !== this.query.partition) return;
      this.keepOnce(resolution, resolution.answer, upstreamNumber(resolution, zone));
    });
  }

  /** Asks the zone of the question in `query`, else the pools. `timer` may answer from stale meanwhile. */
  private resolve(question: Question, timer: StaleTimer | null, request: WaitingRequest): void {
    const zone = this.zoneOfQuestion();
    this.waiting++;
    this.resolverOf(zone).resolve(question, (resolution) => {
      timer?.stop();
      this.failures.note(question, resolution);
      this.finish(timer?.hasAnswered === true ? asRefresh(request) : request, resolution, zone);
      this.waiting--;
      if (this.waiting === 0) this.whenIdle?.();
    });
  }

  private zoneOfQuestion(): ForwardZone | undefined {
    return this.parts.pipeline.snapshot.zones[this.query.zoneIndex];
  }

  private resolverOf(zone: ForwardZone | undefined): Pick<Resolver, 'resolve'> {
    return zone === undefined ? this.parts.resolver : this.parts.zones.of(zone);
  }

  /** Whether an answer lies in the cache that has ended and may still be served. */
  private hasStale(): boolean {
    const { cache, settings } = this.parts;
    const { query } = this;
    if (!settings.enabled || settings.serveStaleSecs === 0) return false;
    return cache.answer(query, query.partition, query.arrivedSecs, true) === CacheHit.STALE;
  }

  /** The client has waited long enough (RFC 8767 section 5); whether it has got a stale answer. */
  private answerLate(request: WaitingRequest): boolean {
    this.open(request);
    return this.answerFromCache(request, true);
  }

  /** Resolves once no request waits. */
  idle(): Promise<void> {
    if (this.waiting === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.whenIdle = resolve;
    });
  }

  /** Asks for the target of an alias in the client's name; false where the qname is none any more. */
  private takeAlias(request: WaitingRequest): boolean {
    const { query } = this;
    const verdict = this.parts.pipeline.findAlias(query);
    if (verdict === Verdict.CONTINUE) return false;
    if (verdict === Verdict.ANSWERED) {
      this.reply(request);
      return true;
    }
    const { dnssecOk, client, arrivedMs, arrivedMonotonicMs } = request;
    const alias = aliasOf(query);
    this.take({
      message: questionForTarget(alias, query),
      protocol: Protocol.tcp, // Nothing is truncated.
      udpSize: 0,
      hasAlias: false,
      isRateLimited: false,
      takeStep: (step) => {
        // Where a rule leads is no longer for others to judge.
        if (alias.rule.attribute === 0) this.parts.pipeline.checkTarget(step);
        this.finishAlias(request, alias, targetAnswerOf(step));
      },
      send: () => undefined,
      ...{ dnssecOk, client, arrivedMs, arrivedMonotonicMs },
    });
    return true;
  }

  /** Answers with the alias and what its target came to; its names are judged as those of any answer. */
  private finishAlias(request: WaitingRequest, alias: Alias, target: TargetAnswer): void {
    this.open(request);
    const { query } = this;
    request.explained?.passed('forward', Verdict.CONTINUE);
    query.cached = target.cached;
    query.upstream = target.upstream;
    query.extendedError = target.extendedError;
    // For the log: the alias itself is nobody's but ours, so the whole has no AD.
    query.dnssec = target.dnssec;
    const joined = joinAnswers(query.qname.subarray(0, query.qnameLength), alias, target);
    if (joined === null) {
      query.status = isFailure(target.status) ? target.status : QueryStatus.SERVFAIL;
      replyWithRcode(query, target.rcode === Rcode.NOERROR ? Rcode.SERVFAIL : target.rcode);
    } else {
      query.replyFlags = alias.replyFlags;
      this.answerFrom(joined);
      query.status = target.status === QueryStatus.BLOCKED_REBIND ? target.status : alias.status;
      query.hasTargets = true;
      noteRule(query, alias.rule);
      if (alias.rule.attribute === 0) this.parts.pipeline.checkAnswer(query, request.explained ?? null);
    }
    this.reply(request);
  }

  private open(request: WaitingRequest): void {
    const { query, scratch } = this;
    const { rules } = this.parts.pipeline.snapshot;
    scratch.set(request.message);
    query.clientBytes = request.client;
    query.clientAt = 0;
    query.protocol = request.protocol;
    query.arrivedMs = request.arrivedMs;
    query.arrivedSecs = Math.floor(this.parts.clock.nowMs() / 1000);
    query.arrivedMonotonicMs = this.parts.clock.monotonicMs();
    query.begin(scratch, 0, request.message.length, SCRATCH_SIZE);
    query.isRateLimited = request.isRateLimited;
    if (parseQuery(query, rules.seedLow, rules.seedHigh) !== ParseOutcome.OK)
      throw new Error('reopen request: it was readable before');
    query.hasEdns = request.udpSize !== 0;
    query.udpSize = query.hasEdns ? request.udpSize : query.udpSize;
    query.dnssecOk = request.dnssecOk;
    this.parts.pipeline.findGroup(query);
    forwardZoneStage(query, this.parts.pipeline.snapshot);
  }

  private answerFromCache(request: WaitingRequest, allowStale: boolean): boolean {
    const { query } = this;
    const hit = this.parts.cache.answer(query, query.partition, query.arrivedSecs, allowStale);
    if (hit === CacheHit.NONE) return false;
    query.status = hit === CacheHit.STALE ? QueryStatus.STALE : QueryStatus.CACHED;
    if (request.explained === undefined)
      this.parts.reporter.count(hit === CacheHit.STALE ? Counter.CACHE_STALE_HITS : Counter.CACHE_HITS);
    this.judge(request);
    this.reply(request);
    return true;
  }

  private judge({ takeStep, explained }: WaitingRequest): void {
    if (takeStep === undefined) this.parts.pipeline.checkAnswer(this.query, explained ?? null);
  }

  private finish(request: WaitingRequest, resolution: Resolution, zone: ForwardZone | undefined): void {
    this.open(request);
    const partition = zone?.partition ?? POOLS_PARTITION;
    // The name's zone has come, gone or changed meanwhile: what the others said is of no interest any more.
    if (partition !== this.query.partition) {
      if (request.isAnswered !== true) this.take(request);
      return;
    }
    const upstream = upstreamNumber(resolution, zone);
    request.explained?.passed('forward', Verdict.CONTINUE);
    if (resolution.kind === 'answer') {
      this.query.upstream = upstream;
      this.query.dnssec = resolution.dnssec ?? DnssecStatus.unchecked;
      this.query.replyFlags = authenticFlag(this.query);
      this.keepOnce(resolution, resolution.answer, upstream);
      if (request.isAnswered === true) return;
      this.answerFrom(resolution.answer);
      this.query.hasTargets = leadsToNames(resolution.answer);
      this.query.hasPrivateAddress = hasPrivateAddress(resolution.answer);
      this.judge(request);
      this.reply(request);
      return;
    }
    if (request.isAnswered === true) return;
    // What is proven false is not made up for by what was true once.
    const mayBeStale = this.parts.settings.enabled && resolution.reason !== 'bogus';
    if (mayBeStale && this.answerFromCache(request, true)) return;
    this.query.upstream = upstream;
    this.query.dnssec = resolution.dnssec ?? DnssecStatus.unchecked;
    this.keepOnce(resolution, failedAnswer(resolution.rcode), upstream);
    this.query.status = resolution.reason === 'timeout' ? QueryStatus.TIMEOUT : QueryStatus.SERVFAIL;
    this.query.extendedError = extendedErrorOf(resolution);
    replyWithRcode(this.query, resolution.rcode);
    this.reply(request);
  }

  /** Keeps an outcome in the shared cache, once for all clients that wait for it. */
  private keepOnce(resolution: Resolution, answer: CacheableAnswer, upstream: number): void {
    const { settings, writer } = this.parts;
    if (this.kept === resolution) return;
    this.kept = resolution;
    const { query } = this;
    clampTtls(answer, settings.minTtlSecs, settings.maxTtlSecs);
    const ttlSecs = lifetimeSecs(answer, settings);
    if (!settings.enabled || ttlSecs === 0) return;
    const staleSecs = resolution.kind === 'answer' ? settings.serveStaleSecs : 0;
    const now = query.arrivedSecs;
    writer.store(
      {
        qname: query.qname.subarray(0, query.qnameLength),
        nameLow: query.hashLow[0]!,
        nameHigh: query.hashHigh[0]!,
        qtype: query.qtype,
        qclass: query.qclass,
        dnssecOk: query.dnssecOk,
        checkingDisabled: query.checkingDisabled,
        partition: query.partition,
      },
      answer,
      {
        storedAtSecs: now,
        expiresAtSecs: now + ttlSecs,
        staleUntilSecs: now + ttlSecs + staleSecs,
        dnssec: resolution.dnssec ?? DnssecStatus.unchecked,
        upstream,
        extendedError: resolution.kind === 'failed' ? extendedErrorOf(resolution) : NO_EDE,
      },
    );
  }

  private answerFrom(answer: AnswerSections): void {
    const { query, scratch } = this;
    scratch.set(answer.body, query.questionEnd);
    query.status = QueryStatus.ALLOWED;
    query.answersAt = query.questionEnd;
    query.answersLength = answer.answersLength;
    query.answersCount = answer.answerCount;
    const end = query.questionEnd + answer.body.length;
    query.authorityCount = answer.authorityCount;
    finishReply(query, answer.rcode, end);
  }

  private reply(request: WaitingRequest): void {
    if (request.takeStep !== undefined) {
      request.takeStep(this.query);
      return;
    }
    this.parts.pipeline.capTtls(this.query);
    if (request.explained === undefined) this.parts.pipeline.limitNxdomain(this.query);
    if (request.explained !== undefined) {
      request.explained.answered(this.query);
      request.send(this.scratch.subarray(0, this.query.replyLength));
      return;
    }
    request.send(this.scratch.subarray(0, this.query.replyLength));
    this.parts.reporter.answered(this.query, this.parts.pipeline.snapshot.version);
    this.parts.reporter.publish((this.parts.clock.monotonicMs() - request.arrivedMonotonicMs) * 1000);
  }
}

function asRefresh(request: WaitingRequest): WaitingRequest {
  return { ...request, isAnswered: true };
}

/** A copy of what `query` asks. */
function questionOf(query: Query): Question {
  return {
    qname: query.qname.slice(0, query.qnameLength),
    qtype: query.qtype,
    qclass: query.qclass,
    dnssecOk: query.dnssecOk,
    checkingDisabled: query.checkingDisabled,
  };
}

/** What a failure tells the client beside its response code. */
function extendedErrorOf({ reason, extendedError }: Resolution & { kind: 'failed' }): number {
  return extendedError ?? (NO_REACH.has(reason) ? ExtendedError.NO_REACHABLE_AUTHORITY : NO_EDE);
}

/** What the log will say of the rule that made an alias. */
function noteRule(query: Query, rule: Alias['rule']): void {
  query.ruleAttribute = rule.attribute;
  query.ruleOrigin = rule.origin;
  query.ruleKind = rule.kind;
  query.ruleNameOffset = rule.nameOffset;
}

/** Statuses of a question to which there was no answer. */
function isFailure(status: number): boolean {
  return status === QueryStatus.SERVFAIL || status === QueryStatus.TIMEOUT;
}

/** What the log calls the server that settled a question; 0 = nobody was asked. */
function upstreamNumber({ upstream }: Resolution, zone: ForwardZone | undefined): number {
  return zone === undefined ? upstream + 1 : (zone.upstreamNumbers[upstream] ?? 0);
}
