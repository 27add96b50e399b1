/**
 * Follows aliases whose targets are not resolved: aliases that this server creates (a local CNAME, the safe address of
 * a search engine), and those in an upstream's answer that omits the target. The target is resolved like a separate
 * query of the client, with its own cache entry and servers; `joined-parts.ts` joins the alias and the target's answer.
 * Three limits end loops and keep slow chains from accumulating clients (CVE-2024-33655 DNSBomb, CVE-2026-50045): the
 * number of aliases, which is the same as within one answer; the validation cost, which is limited to that of a few
 * questions; and the client's timeout, after which no step begins.
 */
import type { AnswerKeeper } from './answer-keeper.ts';
import { failedAnswer, MAX_FAILURE_TTL_SECS, MIN_FAILURE_TTL_SECS } from './answer-lifetime.ts';
import type { Pipeline } from '../pipeline.ts';
import { NO_EDE, type Query, StageResult, type StageResultCode } from '../query/query.ts';
import type { RequestReplier } from './request-replier.ts';
import type { CacheableAnswer, LeftOut } from '../resolve/response/cacheable-answer.ts';
import {
  type Alias,
  joinAnswers,
  type TargetAnswer,
  type Failure,
  isFailure,
  isLasting,
  MAX_CHAIN_COST,
  mayKeep,
  TOO_LATE,
  TOO_LONG,
  weaker,
} from './joined-parts.ts';
import type { Answered, Resolution } from '../resolve/resolution.ts';
import { MAX_CHAIN_HOPS } from '../resolve/response/response-reader.ts';
import { authenticFlag, replyWithRcode } from '../respond/reply.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { Header, QUESTION_TAIL_SIZE, writeQuestion, writeU16 } from '../../shared/dns/wire.ts';
import { DnssecStatus, type DnssecStatusCode, Protocol, QueryStatus } from '../../shared/query-log.ts';
import { NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import { chainOf, type OpenRequest, type WaitingQuestion, type WaitingRequest } from './waiting-request.ts';
import { isInOwnZone } from '../respond/own-zone.ts';

/** Parts and callbacks of the forwarder. */
export interface FollowerParts {
  readonly pipeline: Pipeline;
  readonly replier: RequestReplier;
  readonly keeper: AnswerKeeper;
  readonly take: (request: OpenRequest) => void;
  /** Applies the current policy to an opened request; true if the policy decides its answer. */
  readonly isDecided: (request: OpenRequest) => boolean;
  /** The resolver of the pools; a change of the pools replaces it. */
  readonly resolver: () => unknown;
  /** Whether the request has exceeded its time limit. */
  readonly isLate: (request: WaitingRequest) => boolean;
  /** Runs a part of the work for a request; if it throws, the request is answered with SERVFAIL. */
  readonly guarded: (request: WaitingRequest, work: () => void) => void;
}

/** An answer that omits the records of the last name in its CNAME chain. */
type PartialAnswer = Answered & {
  readonly answer: CacheableAnswer & { readonly leftOut: LeftOut };
};

/** The first part of an answer: its records, the number of its upstream in the log, and its cache partition. */
interface Beginning {
  readonly partial: PartialAnswer;
  readonly upstream: number;
  readonly partition: number;
  readonly resolver: unknown;
}

/** Whether a resolution lacks the target of its chain. */
export function leavesOut(resolution: Resolution): resolution is PartialAnswer {
  return resolution.kind === 'answer' && resolution.answer.leftOut !== undefined;
}

/** Follows aliases for one forwarder. */
export class AliasFollower {
  private readonly parts: FollowerParts;
  /** The replier's query object. */
  private readonly query: Query;

  constructor(parts: FollowerParts) {
    this.parts = parts;
    this.query = parts.replier.query;
  }

  /**
   * Applies current policy and local names to an opened request, and returns the decision. Policy does not apply to a
   * step of a chain, because the client did not ask for it.
   */
  decide(request: OpenRequest): StageResultCode {
    const { pipeline } = this.parts;
    if (request.kind === 'step')
      return request.isNamedByUpstream || isInOwnZone(this.query, pipeline.snapshot)
        ? pipeline.findHere(this.query)
        : StageResult.CONTINUE;
    const { version } = pipeline.snapshot;
    if (request.passedVersion === version) {
      pipeline.passAgain(this.query);
      return StageResult.CONTINUE;
    }
    const result = pipeline.decideAgain(this.query);
    request.passedVersion = result === StageResult.CONTINUE ? version : NOT_PASSED;
    return result;
  }

  /** Resolves the target of the alias in `query`, which this server has created. */
  follow(request: OpenRequest): void {
    const { query } = this;
    const { hops: hopsBefore, cost } = chainOf(request);
    const hops = hopsBefore + 1;
    const end = this.endOf(request, hops, cost);
    if (end !== null) {
      this.replyWithFailure(request, end);
      return;
    }
    const alias = aliasOf(query);
    this.parts.take({
      ...targetQuestion(alias, request, query),
      kind: 'step',
      chain: { hops, cost, grantEndsAtSecs: query.grantEndsAtSecs },
      isNamedByUpstream: false,
      take: (answered) => {
        // Rules do not apply to the target of another rule.
        if (!alias.isFromRule) this.parts.pipeline.checkTarget(answered);
        const target = targetAnswerOf(answered);
        this.parts.guarded(request, () => this.finish(request, alias, target));
      },
    });
  }

  /** Reason to end a chain here; null = it continues. */
  private endOf(request: WaitingRequest, hops: number, cost: number): Failure | null {
    if (hops > MAX_CHAIN_HOPS || cost >= MAX_CHAIN_COST) return TOO_LONG;
    return this.parts.isLate(request) ? TOO_LATE : null;
  }

  /**
   * Resolves the target that an upstream's answer omits. The request must be open; `upstream` is the number of the
   * answering server in the log.
   */
  followAnswer(request: WaitingRequest, partial: PartialAnswer, upstream: number): void {
    const { query } = this;
    const { pipeline, replier, take, guarded } = this.parts;
    const { target, hops: ownHops } = partial.answer.leftOut;
    const before = chainOf(request);
    const hops = before.hops + ownHops;
    const cost = before.cost + (partial.cost ?? 0);
    const end = this.endOf(request, hops, cost);
    if (end !== null) {
      this.fail(request, end, upstream, DnssecStatus.unchecked);
      return;
    }
    const beginning = { partial, upstream, partition: query.partition, resolver: this.parts.resolver() };
    replier.answerFrom(partial.answer);
    const alias = aliasOfAnswer(query, request.message, target);
    take({
      ...targetQuestion(alias, request, query),
      kind: 'step',
      chain: { hops, cost, grantEndsAtSecs: query.grantEndsAtSecs },
      isNamedByUpstream: true,
      take: (answered) => {
        pipeline.checkTarget(answered);
        const isKept = mayKeep(answered, beginning.partition);
        const targetAnswer = targetAnswerOf(answered);
        guarded(request, () => this.finishAnswer(request, alias, beginning, targetAnswer, isKept));
      },
    });
  }

  /** Answers with the alias and the outcome of its target, after the checks that apply to any answer. */
  private finish(request: OpenRequest, followed: Alias, target: TargetAnswer): void {
    const { query } = this;
    const { replier, take } = this.parts;
    replier.open(request);
    if (request.kind === 'explain') request.notes.passed('forward', StageResult.CONTINUE);
    const result = this.decide(request);
    if (result === StageResult.ANSWERED) {
      replier.reply(request);
      return;
    }
    const leadsOn = result === StageResult.UNRESOLVED && leadsTo(query, followed);
    if (!leadsOn) {
      // The qname is no longer an alias, or its target has changed: decide again.
      take(request);
      return;
    }
    // Take the alias from the current rules: rule numbers are valid within one snapshot only.
    const alias = aliasOf(query);
    query.cached = target.cached;
    query.upstream = target.upstream;
    query.extendedError = target.extendedError;
    // Only for the log: the AD flag is not set in the reply, because Weir created the alias.
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
    if (!alias.isFromRule) replier.applyPolicy(request);
    replier.reply(request);
  }

  /** Finishes an answer of an upstream: the joined answer is cached and checked like a complete answer. */
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
      // The forward zone of the name or the pools have changed: resolve the question again.
      if (request.kind !== 'refresh') take(request);
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
    if (request.kind === 'refresh' || this.parts.isDecided(request)) return;
    query.upstream = upstream;
    query.dnssec = dnssec;
    query.extendedError = extendedError;
    const isStale = target.status === QueryStatus.STALE;
    // Signatures may have expired since the answer was stored.
    query.replyFlags = isStale ? 0 : authenticFlag(query);
    replier.answerFrom(answer);
    if (isStale || target.status === QueryStatus.BLOCKED_REBIND) query.status = target.status;
    query.hasTargets = true;
    query.hasPrivateAddress = replier.isPrivate(answer);
    replier.applyPolicy(request);
    replier.reply(request);
  }

  /**
   * Replies after the target of an upstream's alias could not be resolved: with a stale answer if the cache has one.
   */
  private fail(request: WaitingRequest, failure: Failure, upstream: number, dnssec: DnssecStatusCode): void {
    const { query } = this;
    const { replier, keeper } = this.parts;
    if (request.kind === 'refresh' || this.parts.isDecided(request)) return;
    const { rcode, extendedError } = failure;
    // A stale answer does not replace a bogus answer.
    if (dnssec !== DnssecStatus.bogus && replier.answerFromCache(request, true)) return;
    query.upstream = upstream;
    query.dnssec = dnssec;
    // A step may have failed because the earlier steps used up its limits, so its failure is not stored.
    if (request.kind !== 'step' && isLasting(failure)) {
      const resolution = {
        kind: 'failed',
        reason: 'unusable',
        rcode,
        upstream,
        dnssec,
        extendedError,
      } as const;
      const ttlSecs = failure === TOO_LONG ? MAX_FAILURE_TTL_SECS : MIN_FAILURE_TTL_SECS;
      keeper.keepOnce(query, resolution, failedAnswer(rcode, ttlSecs), upstream);
    }
    this.replyWithFailure(request, failure);
  }

  private replyWithFailure(request: OpenRequest, { status, rcode, extendedError }: Failure): void {
    this.query.status = isFailure(status) ? status : QueryStatus.SERVFAIL;
    this.query.extendedError = extendedError;
    replyWithRcode(this.query, rcode === Rcode.NOERROR ? Rcode.SERVFAIL : rcode);
    this.parts.replier.reply(request);
  }
}

/** The question for the target of an alias, on behalf of the client. */
function targetQuestion(alias: Alias, request: WaitingRequest, query: Query): WaitingQuestion {
  return {
    message: questionForTarget(alias, query),
    client: request.client,
    clientKey: request.clientKey,
    protocol: Protocol.tcp, // The protocol is TCP, so that nothing is truncated.
    arrivedMs: request.arrivedMs,
    arrivedMonotonicMs: request.arrivedMonotonicMs,
    udpSize: 0,
    dnssecOk: request.dnssecOk,
    ecs: request.ecs,
  };
}

/** Whether the alias in `query` has the same target. */
function leadsTo({ alias, aliasLength }: Query, { target }: Alias): boolean {
  return aliasLength === target.length && target.every((byte, at) => alias[at] === byte);
}

/** Copies the alias from a query that a stage left unresolved. */
export function aliasOf(query: Query): Alias {
  const end = query.answersAt + query.answersLength;
  const message = query.bytes.slice(query.at, query.at + end);
  writeU16(message, Header.ANCOUNT, query.answersCount);
  writeU16(message, Header.NSCOUNT, 0);
  writeU16(message, Header.ARCOUNT, 0);
  const target = query.alias.slice(0, query.aliasLength);
  const { status, replyFlags, ruleAttribute } = query;
  return { target, message, status, replyFlags, isFromRule: ruleAttribute !== 0 };
}

/** The alias at the end of an upstream's answer, which is in the slot of `query`; `request` is the original message. */
export function aliasOfAnswer(query: Query, request: Uint8Array, target: Uint8Array): Alias {
  const message = query.bytes.slice(query.at, query.at + query.answersAt + query.answersLength);
  message.set(request.subarray(0, Header.ANCOUNT));
  writeU16(message, Header.ANCOUNT, query.answersCount);
  writeU16(message, Header.NSCOUNT, 0);
  writeU16(message, Header.ARCOUNT, 0);
  return { target, message, status: QueryStatus.ALLOWED, replyFlags: 0, isFromRule: false };
}

/** The client's query with the target in place of the qname. */
export function questionForTarget({ target, message }: Alias, query: Query): Uint8Array {
  const question = new Uint8Array(Header.SIZE + target.length + QUESTION_TAIL_SIZE);
  question.set(message.subarray(0, Header.ANCOUNT));
  writeQuestion(question, target, query.qtype, query.qclass);
  return question;
}

/** Copies the answer from an answered query. */
export function targetAnswerOf(query: Query): TargetAnswer {
  const { rcode, status, cached, upstream, extendedError, ecsScope, dnssec } = query;
  const message = query.bytes.slice(query.at, query.at + query.replyLength);
  return { message, rcode, status, cached, upstream, extendedError, ecsScope, dnssec };
}
