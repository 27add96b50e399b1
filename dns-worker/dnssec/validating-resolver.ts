/**
 * A resolver that validates: passes questions to the inner resolver with DO and CD, so that responses include their
 * proofs and Weir validates them itself. Returns the answer with its status, or a failure with its reason; proofs are
 * included only if the client requested them. Answers to questions with CD=1 or a class other than IN are returned
 * unchanged.
 */
import type { Clock } from '../../shared/clock.ts';
import { RRClass, Rcode } from '../../shared/dns/iana.ts';
import type { TrustAnchor, TrustPointKeys } from '../../shared/dns/trust-anchors.ts';
import type { Logger } from '../../shared/log.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { errorDetail } from '../resolve/transport/exchange.ts';
import { InFlight } from '../resolve/in-flight.ts';
import { type Question, questionKey } from '../resolve/response/question.ts';
import { isInconclusive, type Resolution } from '../resolve/resolution.ts';
import { withoutProofs } from '../resolve/response/without-proofs.ts';
import { readRRsets } from './answer-records.ts';
import { Budget } from './budget.ts';
import type { Name } from './names.ts';
import { type Fetched, type ShareCuts, TrustChain, type TrustPoints } from './trust-chain.ts';
import { validatedAnswer, validate } from './validator.ts';

/** Resolves questions: the resolver itself, or a wrapper. */
export interface QuestionResolver {
  /** Calls `done` exactly once, after `resolve` has returned. */
  resolve(question: Question, done: (resolution: Resolution) => void): void;
}

/**
 * If an answer is bogus, there are at most `ATTEMPTS` attempts with the same servers, and `MAX_ATTEMPTS` while further
 * servers can be avoided.
 */
const ATTEMPTS = 2;
const MAX_ATTEMPTS = 3;

/**
 * Callback for a server (`Upstream.index`) whose records failed validation, and the zone of the trust anchor above
 * them.
 */
export type OnDoubt = (upstream: number, anchorZone: Name) => void;

/**
 * The inner resolver times out this many milliseconds before this resolver, so that its exact reason for the timeout is
 * reported.
 */
const GRACE_MS = 50;

/** Validates the answers of the inner resolver. Each thread has one. */
export class ValidatingResolver implements QuestionResolver {
  private readonly behind: QuestionResolver;
  private readonly clock: Clock;
  private readonly timeoutMs: number;
  private readonly chain: TrustChain;
  private readonly logger: Logger;
  private readonly onDoubt: OnDoubt;
  private readonly inFlight: InFlight<Resolution>;

  constructor(
    behind: QuestionResolver,
    points: TrustPoints,
    parts: { readonly clock: Clock; readonly timeoutMs: number; readonly share?: ShareCuts },
    logger: Logger,
    onDoubt: OnDoubt = () => undefined,
  ) {
    this.behind = behind;
    this.clock = parts.clock;
    this.timeoutMs = parts.timeoutMs;
    this.chain = new TrustChain(points, (...asked) => this.fetch(...asked), parts.clock, parts.share);
    this.logger = logger;
    this.onDoubt = onDoubt;
    this.inFlight = new InFlight(logger);
  }

  resolve(question: Question, done: (resolution: Resolution) => void): void {
    if (question.checkingDisabled || question.qclass !== RRClass.IN) {
      this.behind.resolve(question, done);
      return;
    }
    const key = questionKey(question);
    if (!this.inFlight.admits(key)) {
      queueMicrotask(() => done(failed('overloaded', -1)));
      return;
    }
    if (!this.inFlight.join(key, done)) return;
    this.run(question, (resolution) => this.inFlight.settle(key, resolution));
  }

  /** Ignores the validity periods of signatures while the clock shows an earlier time, in Unix milliseconds. */
  useClockFloor(earliestMs: number): void {
    this.chain.clockFloorMs = earliestMs;
  }

  /** Replaces the trust anchors. */
  trust(anchors: readonly TrustAnchor[]): void {
    this.chain.trust(anchors);
  }

  /** The keys of a zone with trust anchors, and which keys signed them; null = no response. Never rejects. */
  async observe(zone: Name): Promise<TrustPointKeys | null> {
    const budget = new Budget(this.clock.monotonicMs() + this.timeoutMs);
    try {
      return await this.chain.observe(zone, budget);
    } catch (error) {
      this.logger.error('could not query the keys of a trust anchor', { error: errorDetail(error) });
      return null;
    } finally {
      this.reportAvoided(zone, budget);
    }
  }

  /** Calls `done` once, before the deadline. */
  private run(question: Question, done: (resolution: Resolution) => void): void {
    const budget = new Budget(this.clock.monotonicMs() + this.timeoutMs, question.network);
    let isOver = false;
    const end = (resolution: Resolution): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.reportAvoided(question.qname, budget);
      done(resolution);
    };
    const timer = setTimeout(end, this.timeoutMs + GRACE_MS, failed('timeout', -1));
    this.validated(question, budget).then(end, (error: unknown) => {
      this.logger.error('could not validate an answer', { error: errorDetail(error) });
      end(failed('servfail', -1));
    });
  }

  private reportAvoided(name: Name, { avoided }: Budget): void {
    if (avoided.size === 0) return;
    const anchorZone = this.chain.anchorZone(name);
    if (anchorZone !== null) for (const upstream of avoided) this.onDoubt(upstream, anchorZone);
  }

  private async validated(question: Question, budget: Budget): Promise<Resolution> {
    const { firstTry, ...again } = question;
    for (let attempt = 1; ; attempt++) {
      const asked = { ...again, dnssecOk: true, checkingDisabled: true, avoided: budget.avoided };
      const isTried = attempt === 1 && firstTry !== undefined;
      const resolution = await this.ask(isTried ? { ...asked, firstTry } : asked);
      if (resolution.kind === 'failed') return resolution;
      const { answer, upstream } = resolution;
      const result = await validate(question.qname, question.qtype, answer, this.chain, budget);
      const { status, extendedError } = result;
      if (result.isUnavailable && budget.isShort) return failed('overloaded', upstream);
      if (result.isUnavailable) return { ...failed('servfail', upstream), dnssec: status, extendedError };
      if (status !== DnssecStatus.bogus) {
        const full = validatedAnswer(answer, result);
        const fit = question.dnssecOk ? full : withoutProofs(question, full);
        return { kind: 'answer', answer: fit, upstream, dnssec: status, cost: budget.spentShare };
      }
      const isLast = !budget.avoid(upstream) && attempt >= ATTEMPTS;
      if (isLast || attempt >= MAX_ATTEMPTS || budget.isSpent)
        return { ...failed('bogus', upstream), dnssec: status, extendedError };
    }
  }

  private ask(question: Question): Promise<Resolution> {
    return new Promise((resolve) => this.behind.resolve(question, resolve));
  }

  private async fetch(qname: Name, qtype: number, budget: Budget): Promise<Fetched | null> {
    const question = {
      qname,
      qtype,
      qclass: RRClass.IN,
      dnssecOk: true,
      checkingDisabled: true,
      ecs: null,
      avoided: budget.avoided,
      ...(budget.network !== undefined && { network: budget.network }),
    };
    const resolution = await this.ask(question);
    if (resolution.kind === 'answer')
      return { sets: readRRsets(qname, resolution.answer), upstream: resolution.upstream };
    budget.isShort ||= isInconclusive(resolution);
    return null;
  }
}

function failed(
  reason: 'timeout' | 'servfail' | 'bogus' | 'overloaded',
  upstream: number,
): Resolution & { kind: 'failed' } {
  return { kind: 'failed', reason, rcode: Rcode.SERVFAIL, upstream };
}
