/**
 * Ensures that a question is in flight once on the whole node: in this thread identical questions share one run, and
 * while another thread asks the question this thread waits until it has finished. The caller then finds the answer in
 * the shared cache, or asks next if it is not cacheable.
 */
import { Rcode } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import { errorDetail } from './transport/exchange.ts';
import { InFlight } from './in-flight.ts';
import type { QuestionClaims } from './question-claims.ts';
import { type Question, questionKey } from './response/question.ts';
import type { Resolution } from './question-run.ts';

/** Resolves the questions that this thread must ask; see `Resolver.resolve`. */
export interface QuestionTaker {
  resolve(question: Question, done: (resolution: Resolution) => void): void;
}

/** The outcome of a question; null = another thread asked it and has finished. */
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

  /** Fails all waiters and all later questions. Runs in flight continue without waiters. */
  close(): void {
    this.isClosed = true;
    for (const key of this.inFlight.keys()) this.inFlight.settle(key, failed('network'));
  }
}

function failed(reason: 'overloaded' | 'network' | 'servfail'): Resolution {
  return { kind: 'failed', reason, rcode: Rcode.SERVFAIL, upstream: -1 };
}
