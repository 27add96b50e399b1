/**
 * Replies to a waiting request: parses it again in this thread's buffer, appends the answer or reads it from the cache,
 * and sends, counts and logs the reply. `forwarder.ts` decides which question to resolve.
 */
import type { Clock } from '../../shared/clock.ts';
import { LimitReason } from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { DnssecStatus, LogMark, QueryStatus } from '../../shared/query-log.ts';
import { stampArrival } from '../query/arrival-clock.ts';
import { type AnswerCache, CacheHit } from '../cache/answer-cache.ts';
import { leadsToNames } from '../cache/chain-names.ts';
import { hasPrivateAddress } from '../cache/private-addresses.ts';
import { ParseOutcome, parseQuery } from '../query/parse-query.ts';
import type { Pipeline } from '../pipeline.ts';
import { NO_EDE, Query } from '../query/query.ts';
import type { Reporter } from '../report/reporter.ts';
import type { Answered } from '../resolve/resolution.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import { authenticFlag, finishReply, replyWithRcode } from '../respond/reply.ts';
import type { Nat64Discovery } from './nat64-discovery.ts';
import { chainOf, type OpenRequest, type WaitingRequest } from './waiting-request.ts';

const SCRATCH_SIZE = 65_535;

/** The objects that a replier uses. */
export interface ReplierParts {
  readonly pipeline: Pipeline;
  readonly cache: AnswerCache;
  readonly reporter: Reporter;
  readonly clock: Clock;
}

/** Replies to one request at a time. */
export class RequestReplier {
  /** The opened request, and its reply so far. */
  readonly query = new Query();
  private readonly parts: ReplierParts;
  private readonly nat64: Nat64Discovery;
  private readonly scratch = new Uint8Array(SCRATCH_SIZE);
  /** The last replied request: prevents a second reply. */
  private repliedTo: OpenRequest | null = null;

  constructor(parts: ReplierParts, nat64: Nat64Discovery) {
    this.parts = parts;
    this.nat64 = nat64;
  }

  /** Parses a request again into `query`; it was valid when it arrived. */
  open(request: WaitingRequest): void {
    const { query, scratch } = this;
    const { rules } = this.parts.pipeline.snapshot;
    scratch.set(request.message);
    query.clientBytes = request.client;
    query.clientAt = 0;
    query.protocol = request.protocol;
    query.clientKey = request.clientKey;
    stampArrival(query, this.parts.clock.nowMs(), this.parts.clock.monotonicMs());
    // The log needs the time of arrival; lifetimes and schedules use the current time.
    query.arrivedMs = request.arrivedMs;
    query.begin(scratch, 0, request.message.length, SCRATCH_SIZE);
    query.isOwn = request.kind === 'client' && request.isOwn;
    query.grantEndsAtSecs = chainOf(request).grantEndsAtSecs;
    if (parseQuery(query, rules.seedLow, rules.seedHigh) !== ParseOutcome.OK)
      throw new Error('could not parse a waiting request again: it was valid when it arrived');
    query.hasEdns = request.udpSize !== 0;
    query.udpSize = query.hasEdns ? request.udpSize : query.udpSize;
    query.dnssecOk = request.dnssecOk;
    if (request.kind === 'client') {
      query.limitedBy = request.isRateLimited ? LimitReason.QUESTIONS : LimitReason.NONE;
      query.hasValidCookie = request.hasValidCookie;
      query.streamOptions = request.streamOptions;
      if (request.cookie !== null) query.setCookie(request.cookie);
    }
    if (request.ecs !== null) query.setEcs(request.ecs, 0, request.ecs.length);
    this.parts.pipeline.reopen(query);
    if (request.kind === 'explain') request.notes.placeInGroup(query, this.parts.pipeline.snapshot);
  }

  /** Replies from the cache if it has the answer; `allowStale`: an expired answer is also allowed. */
  answerFromCache(request: OpenRequest, allowStale: boolean): boolean {
    const { query } = this;
    const hit = this.parts.cache.answer(query, query.partition, query.arrivedMonotonicSecs, allowStale);
    if (hit === CacheHit.NONE) return false;
    query.status = hit === CacheHit.STALE ? QueryStatus.STALE : QueryStatus.CACHED;
    if (request.kind !== 'explain' && query.logMark === LogMark.COUNTED)
      this.parts.reporter.count(hit === CacheHit.STALE ? Counter.CACHE_STALE_HITS : Counter.CACHE_HITS);
    this.applyPolicy(request);
    this.reply(request);
    return true;
  }

  /** Replies with a server's answer; `upstream` is the number of the server in the log. */
  answer(request: OpenRequest, { answer, dnssec }: Answered, upstream: number): void {
    const { query } = this;
    query.upstream = upstream;
    query.dnssec = dnssec ?? DnssecStatus.unchecked;
    query.extendedError = answer.extendedError ?? NO_EDE;
    query.replyFlags = authenticFlag(query);
    this.answerFrom(answer);
    query.hasTargets = leadsToNames(answer);
    query.hasPrivateAddress = this.isPrivate(answer);
    this.applyPolicy(request);
    this.reply(request);
  }

  /** Whether an answer contains a private address; addresses behind known NAT64 prefixes are checked as IPv4. */
  isPrivate(answer: CacheableAnswer): boolean {
    return hasPrivateAddress(answer, this.nat64.prefixes);
  }

  /** Applies policy to the names in the answer, unless it is part of another answer. */
  applyPolicy(request: OpenRequest): void {
    if (request.kind === 'step') return;
    this.parts.pipeline.checkAnswer(this.query, request.kind === 'explain' ? request.notes : null);
  }

  /** Appends an answer to the question in the reply. */
  answerFrom(answer: CacheableAnswer): void {
    const { query, scratch } = this;
    query.ecsScope = answer.ecsScope;
    scratch.set(answer.body, query.questionEnd);
    query.status = QueryStatus.ALLOWED;
    query.answersAt = query.questionEnd;
    query.answersLength = answer.answersLength;
    query.answersCount = answer.answerCount;
    const end = query.questionEnd + answer.body.length;
    query.authorityCount = answer.authorityCount;
    finishReply(query, answer.rcode, end);
  }

  /** Answers SERVFAIL after an unexpected error, unless a reply was sent. */
  fail(request: WaitingRequest): void {
    if (request.kind === 'refresh' || this.repliedTo === request) return;
    this.open(request);
    this.query.status = QueryStatus.SERVFAIL;
    replyWithRcode(this.query, Rcode.SERVFAIL);
    this.reply(request);
  }

  /** Sends the reply, counts and logs it. */
  reply(request: OpenRequest): void {
    this.repliedTo = request;
    if (request.kind === 'step') {
      request.take(this.query);
      return;
    }
    this.parts.pipeline.finish(this.query, request.kind === 'client');
    if (request.kind === 'explain') {
      request.notes.answered(this.query);
      request.send(this.scratch.subarray(0, this.query.replyLength));
      return;
    }
    request.send(this.scratch.subarray(0, this.query.replyLength));
    this.parts.reporter.answered(this.query, this.parts.pipeline.snapshot.version);
    this.parts.reporter.publish((this.parts.clock.monotonicMs() - request.arrivedMonotonicMs) * 1000);
  }
}
