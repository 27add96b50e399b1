/**
 * Questions under way on the whole node, each of them once: in this thread identical ones share one run,
 * and while another thread has one under way this thread waits until that one is through, and is told so. What to
 * do then is the caller's business: an answer to a client's question lies in the shared cache, unless it may not be
 * kept; then it is asked for next, by one thread after the other.
 */
import { Rcode } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import { errorDetail } from './transport/exchange.ts';
import { InFlight } from './in-flight.ts';
import type { QuestionClaims } from './question-claims.ts';
import { type Question, questionKey } from './response/question.ts';
import type { Resolution } from './question-run.ts';

/** What takes the questions that are this thread's to ask; see `Resolver.resolve`. */
export interface QuestionTaker {
  resolve(question: Question, done: (resolution: Resolution) => void): void;
}

/** What became of a question; null = another thread had it under way, and is through. */
export type FlightOutcome = Resolution | null;

/** Flights of one area (`ClaimArea`). One per resolve thread. */
export class NodeFlights {
  /** Longest wait for another thread, milliseconds. */
  readonly timeoutMs: number;
  private readonly claims: QuestionClaims | null;
  private readonly inFlight: InFlight<FlightOutcome>;
  private readonly logger: Logger;
  private isClosed = false;

  /** `claims` is null if no other thread asks. */
  constructor(claims: QuestionClaims | null, timeoutMs: number, logger: Logger) {
    this.claims = claims;
    this.timeoutMs = timeoutMs;
    this.inFlight = new InFlight(logger);
    this.logger = logger;
  }

  /**
   * Has `taker` resolve the question for a part of the cache, unless another thread is about it. `done` is called
   * exactly once, never before this has returned. A client's answer must lie in the cache when that returns, as the
   * question is free for others then.
   */
  resolve(
    taker: QuestionTaker,
    partition: number,
    question: Question,
    done: (outcome: FlightOutcome) => void,
  ): void {
    const key = questionKey(question, partition);
    if (this.isClosed || !this.inFlight.admits(key)) {
      const refusal = failed(this.isClosed ? 'network' : 'overloaded');
      queueMicrotask(() => done(refusal));
      return;
    }
    if (!this.inFlight.join(key, done)) return;
    const { claims } = this;
    const claim = claims === null ? null : claims.claim(partition, question);
    if (claim?.isMine === false) {
      void claims!.ended(claim, this.timeoutMs).then(() => this.inFlight.settle(key, null));
      return;
    }
    const settle = (resolution: Resolution): void => {
      this.inFlight.settle(key, resolution);
      if (claim !== null) claims!.release(claim);
    };
    try {
      taker.resolve(question, settle);
    } catch (error) {
      this.logger.error('ask a question failed', { error: errorDetail(error) });
      settle(failed('servfail'));
    }
  }

  /** Fails all that wait, and whatever comes later. What is under way goes on, for no one. */
  close(): void {
    this.isClosed = true;
    for (const key of this.inFlight.keys()) this.inFlight.settle(key, failed('network'));
  }
}

function failed(reason: 'overloaded' | 'network' | 'servfail'): Resolution {
  return { kind: 'failed', reason, rcode: Rcode.SERVFAIL, upstream: -1 };
}
