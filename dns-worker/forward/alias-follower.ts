/**
 * Follows aliases with unresolved targets: those that this server makes (a local CNAME, the safe address of a search
 * engine), and those of an upstream that has omitted the target. The target is an ordinary question of the client, with
 * its own cache entry and servers; `follow-alias.ts` joins both parts. A chain may have as many aliases as one within
 * an answer, cost as much as a few questions, and begin no step once the client's time is over: so loops end, and slow
 * ones collect no clients (CVE-2024-33655 DNSBomb, CVE-2026-50045).
 */
import type { AnswerKeeper } from './answer-keeper.ts';
import { failedAnswer } from './answer-lifetime.ts';
import type { Pipeline } from '../pipeline.ts';
import { NO_EDE, type Query, StageResult, type StageResultCode } from '../query/query.ts';
import type { RequestReplier } from './request-replier.ts';
import type { CacheableAnswer, LeftOut } from '../resolve/response/cacheable-answer.ts';
import {
  type Alias,
  aliasOf,
  aliasOfAnswer,
  joinAnswers,
  questionForTarget,
  type TargetAnswer,
  targetAnswerOf,
} from './follow-alias.ts';
import {
  type Failure,
  isFailure,
  isLasting,
  MAX_CHAIN_COST,
  mayKeep,
  TOO_LATE,
  TOO_LONG,
  weaker,
} from './joined-parts.ts';
import type { Answered, Resolution } from '../resolve/question-run.ts';
import { MAX_CHAIN_HOPS } from '../resolve/response/response-reader.ts';
import { authenticFlag, replyWithRcode } from '../respond/reply.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { DnssecStatus, type DnssecStatusCode, Protocol, QueryStatus } from '../../shared/query-log.ts';
import { NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import type { WaitingRequest } from './waiting-request.ts';

/** Parts and callbacks of the forwarder. */
export interface FollowerParts {
  readonly pipeline: Pipeline;
  readonly replier: RequestReplier;
  readonly keeper: AnswerKeeper;
  readonly take: (request: WaitingRequest) => void;
  /** Applies the current policy to an opened request; true if that decides. */
  readonly isDecided: (request: WaitingRequest) => boolean;
  /** The resolver of the pools; another one once they have changed. */
  readonly resolver: () => unknown;
  /** Whether the time of a request is over. */
  readonly isLate: (request: WaitingRequest) => boolean;
  /** Does a part of what a request needs; a bug in it is one SERVFAIL, for that request only. */
  readonly guarded: (request: WaitingRequest, work: () => void) => void;
}

/** An answer whose chain leads to a name that was left out. */
type PartialAnswer = Answered & {
  readonly answer: CacheableAnswer & { readonly leftOut: LeftOut };
};

/** The first part of an answer: its records, its upstream (the log's number), and its cache partition. */
interface Beginning {
  readonly partial: PartialAnswer;
  readonly upstream: number;
  readonly partition: number;
  readonly resolver: unknown;
}

/** Whether a resolution is a part of an answer only. */
export function leavesOut(resolution: Resolution): resolution is PartialAnswer {
  return resolution.kind === 'answer' && resolution.answer.leftOut !== undefined;
}

/** Follows aliases for one forwarder. */
export class AliasFollower {
  private readonly parts: FollowerParts;
  /** The replier's. */
  private readonly query: Query;

  constructor(parts: FollowerParts) {
    this.parts = parts;
    this.query = parts.replier.query;
  }

  /**
   * The decision of current policy and local names about an opened request. A step of a chain is not the client's
   * question, so policy lets it pass.
   */
  decide(request: WaitingRequest): StageResultCode {
    const { pipeline } = this.parts;
    if (request.takeStep !== undefined)
      return request.isNamedByUpstream === true ? pipeline.findHere(this.query) : StageResult.CONTINUE;
    const { version } = pipeline.snapshot;
    if (request.passedVersion === version) {
      pipeline.passAgain(this.query);
      return StageResult.CONTINUE;
    }
    const result = pipeline.decideAgain(this.query);
    request.passedVersion = result === StageResult.CONTINUE ? version : NOT_PASSED;
    return result;
  }

  /** Asks for the target of the alias in `query` that this server makes. */
  follow(request: WaitingRequest): void {
    const { query } = this;
    const hops = (request.hops ?? 0) + 1;
    const { cost = 0 } = request;
    const end = this.endOf(request, hops, cost);
    if (end !== null) {
      this.replyWithFailure(request, end);
      return;
    }
    const alias = aliasOf(query);
    const step = stepTo(alias, request, query, (answered) => {
      // The target of a rule is not judged by other rules.
      if (!alias.isOfRule) this.parts.pipeline.checkTarget(answered);
      const target = targetAnswerOf(answered);
      this.parts.guarded(request, () => this.finish(request, alias, target));
    });
    this.parts.take({ ...step, hops, cost });
  }

  /** Why a chain goes no further; null = it does. */
  private endOf(request: WaitingRequest, hops: number, cost: number): Failure | null {
    if (hops > MAX_CHAIN_HOPS || cost >= MAX_CHAIN_COST) return TOO_LONG;
    return this.parts.isLate(request) ? TOO_LATE : null;
  }

  /**
   * Asks for the target that an upstream's answer has left out. The request is opened; `upstream` is the log's number
   * of the answering server.
   */
  followAnswer(request: WaitingRequest, partial: PartialAnswer, upstream: number): void {
    const { query } = this;
    const { pipeline, replier, take, guarded } = this.parts;
    const { target, hops: ownHops } = partial.answer.leftOut;
    const hops = (request.hops ?? 0) + ownHops;
    const cost = (request.cost ?? 0) + (partial.cost ?? 0);
    const end = this.endOf(request, hops, cost);
    if (end !== null) {
      this.fail(request, end, upstream, DnssecStatus.unchecked);
      return;
    }
    const beginning = { partial, upstream, partition: query.partition, resolver: this.parts.resolver() };
    replier.answerFrom(partial.answer);
    const alias = aliasOfAnswer(query, request.message, target);
    const step = stepTo(alias, request, query, (answered) => {
      pipeline.checkTarget(answered);
      const isKept = mayKeep(answered, beginning.partition);
      const targetAnswer = targetAnswerOf(answered);
      guarded(request, () => this.finishAnswer(request, alias, beginning, targetAnswer, isKept));
    });
    take({ ...step, hops, cost, isNamedByUpstream: true });
  }

  /** Answers with the alias and the result of its target; its names are judged as in any answer. */
  private finish(request: WaitingRequest, followed: Alias, target: TargetAnswer): void {
    const { query } = this;
    const { pipeline, replier, take } = this.parts;
    replier.open(request);
    request.explained?.passed('forward', StageResult.CONTINUE);
    const result = this.decide(request);
    if (result === StageResult.ANSWERED) {
      replier.reply(request);
      return;
    }
    const leadsOn = result === StageResult.UNRESOLVED && leadsTo(query, followed);
    if (!leadsOn) {
      // The qname is no longer an alias, or has another target.
      take(request);
      return;
    }
    // By the current rules: rule numbers belong to one snapshot.
    const alias = aliasOf(query);
    query.cached = target.cached;
    query.upstream = target.upstream;
    query.extendedError = target.extendedError;
    // For the log: the alias is Weir's own, so the whole has no AD.
    query.dnssec = target.dnssec;
    const joined = joinAnswers(query.qname.subarray(0, query.qnameLength), alias, target);
    if (joined === null) {
      this.replyWithFailure(request, target);
      return;
    }
    query.replyFlags = alias.replyFlags;
    replier.answerFrom(joined);
    query.status = target.status === QueryStatus.BLOCKED_REBIND ? target.status : alias.status;
    query.hasTargets = true;
    if (!alias.isOfRule && request.takeStep === undefined)
      pipeline.checkAnswer(query, request.explained ?? null);
    replier.reply(request);
  }

  /** The same for an answer of an upstream: the whole is cached and judged like one answer of the upstream. */
  private finishAnswer(
    request: WaitingRequest,
    alias: Alias,
    { partial, upstream, partition, resolver }: Beginning,
    target: TargetAnswer,
    isKept: boolean,
  ): void {
    const { query } = this;
    const { replier, keeper, take } = this.parts;
    replier.open(request);
    if (partition !== query.partition || resolver !== this.parts.resolver()) {
      // The name's zone has changed meanwhile, or the pools.
      if (request.isAnswered !== true) take(request);
      return;
    }
    const dnssec = weaker(partial.dnssec ?? DnssecStatus.unchecked, target.dnssec);
    const joined = joinAnswers(query.qname.subarray(0, query.qnameLength), alias, target);
    if (joined === null) {
      this.fail(request, target, upstream, dnssec);
      return;
    }
    const { extendedError } = target;
    const answer = extendedError === NO_EDE ? joined : { ...joined, extendedError };
    if (isKept) keeper.keepOnce(query, { kind: 'answer', answer, upstream, dnssec }, answer, upstream);
    if (request.isAnswered === true || this.parts.isDecided(request)) return;
    query.upstream = upstream;
    query.dnssec = dnssec;
    query.extendedError = extendedError;
    const isStale = target.status === QueryStatus.STALE;
    // Signatures may have expired since.
    query.replyFlags = isStale ? 0 : authenticFlag(query);
    replier.answerFrom(answer);
    if (isStale || target.status === QueryStatus.BLOCKED_REBIND) query.status = target.status;
    query.hasTargets = true;
    query.hasPrivateAddress = replier.isPrivate(answer);
    replier.judge(request);
    replier.reply(request);
  }

  /** The target of an upstream's alias has failed, and with it the whole: a stale answer is better than none. */
  private fail(request: WaitingRequest, failure: Failure, upstream: number, dnssec: DnssecStatusCode): void {
    const { query } = this;
    const { replier, keeper } = this.parts;
    if (request.isAnswered === true || this.parts.isDecided(request)) return;
    const { rcode, extendedError } = failure;
    // A bogus answer is not replaced by a stale one.
    if (dnssec !== DnssecStatus.bogus && replier.answerFromCache(request, true)) return;
    query.upstream = upstream;
    query.dnssec = dnssec;
    // The result of a step includes its chain.
    if (request.takeStep === undefined && isLasting(failure)) {
      const resolution = {
        kind: 'failed',
        reason: 'unusable',
        rcode,
        upstream,
        dnssec,
        extendedError,
      } as const;
      keeper.keepOnce(query, resolution, failedAnswer(rcode), upstream);
    }
    this.replyWithFailure(request, failure);
  }

  private replyWithFailure(request: WaitingRequest, { status, rcode, extendedError }: Failure): void {
    this.query.status = isFailure(status) ? status : QueryStatus.SERVFAIL;
    this.query.extendedError = extendedError;
    replyWithRcode(this.query, rcode === Rcode.NOERROR ? Rcode.SERVFAIL : rcode);
    this.parts.replier.reply(request);
  }
}

/** A request for the target of an alias, on behalf of the client. */
function stepTo(
  alias: Alias,
  { dnssecOk, ecs, client, clientKey, arrivedMs, arrivedMonotonicMs }: WaitingRequest,
  query: Query,
  takeStep: (query: Query) => void,
): WaitingRequest {
  return {
    message: questionForTarget(alias, query),
    protocol: Protocol.tcp, // Nothing is truncated.
    udpSize: 0,
    cookie: null,
    hasValidCookie: false,
    streamOptions: 0,
    isRateLimited: false,
    passedVersion: NOT_PASSED,
    takeStep,
    grantEndsAtSecs: query.grantEndsAtSecs,
    send: () => undefined,
    ...{ dnssecOk, ecs, client, clientKey, arrivedMs, arrivedMonotonicMs },
  };
}

/** Whether the alias in `query` is one of the same name as that. */
function leadsTo({ alias, aliasLength }: Query, { target }: Alias): boolean {
  return aliasLength === target.length && target.every((byte, at) => alias[at] === byte);
}
