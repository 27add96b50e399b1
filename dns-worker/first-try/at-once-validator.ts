/**
 * Validates the answers of first tries if validation needs no further queries: the zones of all records are known, and
 * a few signatures prove them. Clients wait for this thread, so the number of signatures per answer and per turn is
 * limited, and a zone with many unproven answers is left to the resolve thread. Answers that cannot be proven here are
 * queried again and validated there (`dnssec/validating-resolver.ts`).
 */
import type { Clock } from '../../shared/clock.ts';
import type { TrustAnchor } from '../../shared/dns/trust-anchors.ts';
import { RRType } from '../../shared/dns/iana.ts';
import { DnssecStatus, type DnssecStatusCode } from '../../shared/query-log.ts';
import { Budget } from '../dnssec/budget.ts';
import { nameKey } from '../dnssec/names.ts';
import { type ShareCuts, TrustChain, type TrustPoints, type Zone } from '../dnssec/trust-chain.ts';
import { validatedAnswer, validate } from '../dnssec/validator.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import type { Question } from '../resolve/response/question.ts';
import { withoutProofs } from '../resolve/response/without-proofs.ts';

/** Signatures per turn, about a millisecond; after them, the remaining replies wait for the next turn. */
const TURN_SIGNATURES = 10;
/** After this many overloaded turns in a row, questions go to the resolve thread until a turn is not overloaded. */
const BEHIND_TURNS = 5;

/** An unproven answer counts as much as this many proven answers. */
const UNPROVEN = 4;
const MAX_SCORE = 8;
/** If a zone has more unproven than proven answers, only one of this many questions for the zone is tried. */
const RETRY_ONE_OF = 16;
/** Maximum number of zones with a score. */
const MAX_ZONES = 10_000;

/** A validated answer, in the form that the client requested. */
export interface Proven {
  readonly answer: CacheableAnswer;
  readonly dnssec: DnssecStatusCode;
  readonly cost: number;
}

export interface AtOnceParts {
  readonly clock: Clock;
  /** Same value as `TrustChain.clockFloorMs`. */
  readonly clockFloorMs: number;
  readonly share: ShareCuts;
}

/** Validates answers. One per answer thread. */
export class AtOnceValidator {
  private readonly chain: TrustChain;
  /** Weighted number of proven answers minus unproven answers, by `nameKey` of the zone. */
  private readonly scores = new Map<string, number>();
  private questions = 0;
  /** Signatures verified in this turn. */
  private signatures = 0;
  /** Number of overloaded turns in a row. */
  private shortTurns = 0;

  constructor(points: TrustPoints, { clock, clockFloorMs, share }: AtOnceParts) {
    this.chain = new TrustChain(points, null, clock, share);
    this.chain.clockFloorMs = clockFloorMs;
  }

  /** Replaces the trust anchors. */
  trust(anchors: readonly TrustAnchor[]): void {
    this.chain.trust(anchors);
  }

  /** Ends a turn; `isShort`: replies are left for the next turn. */
  endTurn(isShort: boolean): void {
    this.signatures = 0;
    this.shortTurns = isShort ? this.shortTurns + 1 : 0;
  }

  /** Whether this turn has used up its allowance of signatures. */
  get isTurnOver(): boolean {
    return this.signatures >= TURN_SIGNATURES;
  }

  /** Whether an answer to the question can probably be proven here. */
  mayProve({ qname, qtype }: Question): boolean {
    if (this.shortTurns >= BEHIND_TURNS) return false;
    // DS records belong to the zone above.
    if (qtype === RRType.DS) return false;
    const zone = this.chain.knownZone(qname);
    if (zone.kind !== 'secure') return zone.kind === 'insecure' || zone.kind === 'indeterminate';
    this.questions = (this.questions + 1) % RETRY_ONE_OF;
    return this.questions === 0 || (this.scores.get(nameKey(zone.name)) ?? 0) >= 0;
  }

  /** Validates the answer to a question that was sent with DO and CD; null = pass it to the resolve thread. */
  prove(question: Question, answer: CacheableAnswer): Proven | null {
    const budget = Budget.atOnce();
    const proven = this.validated(question, answer, budget);
    this.signatures += budget.spentSignatures;
    this.note(this.chain.knownZone(question.qname), proven !== null);
    return proven;
  }

  private validated(question: Question, answer: CacheableAnswer, budget: Budget): Proven | null {
    const { qname, qtype, dnssecOk } = question;
    const result = validate(qname, qtype, answer, this.chain, budget);
    if (result instanceof Promise || result.isUnavailable || result.status === DnssecStatus.bogus)
      return null;
    const full = validatedAnswer(answer, result);
    return {
      answer: dnssecOk ? full : withoutProofs(question, full),
      dnssec: result.status,
      cost: budget.spentShare,
    };
  }

  private note(zone: Zone, isProven: boolean): void {
    if (zone.kind !== 'secure') return;
    const key = nameKey(zone.name);
    const { scores } = this;
    const before = scores.get(key) ?? 0;
    const score = isProven ? Math.min(before + 1, MAX_SCORE) : Math.max(before - UNPROVEN, -MAX_SCORE);
    if (score === before) return;
    if (scores.size >= MAX_ZONES) scores.delete(scores.keys().next().value!);
    scores.set(key, score);
  }
}
