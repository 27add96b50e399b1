/**
 * Questions of clients under way on the whole node, each of them once: in this thread identical ones share one run,
 * and while another thread has one under way this thread waits until that one is through, and is told to look into
 * the shared cache. Whether the answer lies there is the caller's business: one that may not be kept is asked for
 * next, by one thread after the other.
 */
import { Rcode } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import { errorDetail } from './transport/exchange.ts';
import { InFlight } from './in-flight.ts';
import { type QuestionClaims, claimKey } from './question-claims.ts';
import type { Question } from './response/question.ts';
import type { Resolution } from './question-run.ts';

/** What takes the questions that are this thread's to ask; see `Resolver.resolve`. */
interface QuestionTaker {
  resolve(question: Question, done: (resolution: Resolution) => void): void;
}

/** What became of a question; null = another thread had it under way, and is through. */
export type FlightOutcome = Resolution | null;

/** One a resolve thread. */
export class NodeFlights {
  /** Longest wait for another thread, milliseconds. */
  readonly timeoutMs: number;
  readonly #claims: QuestionClaims;
  readonly #inFlight: InFlight<FlightOutcome>;
  readonly #logger: Logger;

  constructor(claims: QuestionClaims, timeoutMs: number, logger: Logger) {
    this.#claims = claims;
    this.timeoutMs = timeoutMs;
    this.#inFlight = new InFlight(logger);
    this.#logger = logger;
  }

  /**
   * Has `taker` resolve the question for a part of the cache, unless another thread is about it. `done` is called
   * exactly once; the answer must lie in the cache when it returns, as the question is free for others then.
   */
  resolve(
    taker: QuestionTaker,
    partition: number,
    question: Question,
    done: (outcome: FlightOutcome) => void,
  ): void {
    const key = claimKey(partition, question);
    if (!this.#inFlight.admits(key)) {
      queueMicrotask(() => done(failed('overloaded')));
      return;
    }
    if (!this.#inFlight.join(key, done)) return;
    const claim = this.#claims.claim(key);
    if (!claim.isMine) {
      void claim.ended(this.timeoutMs).then(() => this.#inFlight.settle(key, null));
      return;
    }
    const settle = (resolution: Resolution): void => {
      this.#inFlight.settle(key, resolution);
      claim.release();
    };
    try {
      taker.resolve(question, settle);
    } catch (error) {
      this.#logger.error('ask a question failed', { error: errorDetail(error) });
      settle(failed('servfail'));
    }
  }
}

function failed(reason: 'overloaded' | 'servfail'): Resolution {
  return { kind: 'failed', reason, rcode: Rcode.SERVFAIL, upstream: -1 };
}
