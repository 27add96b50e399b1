/**
 * Ensures that a question is in flight only once on the whole node: in this thread, identical questions share one run;
 * if another thread is resolving the question, this thread waits for it. The caller then finds the answer in the shared
 * cache, or gets the outcome directly from the other thread.
 */
import { Rcode } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import { errorDetail } from './transport/exchange.ts';
import type { FlightOutcomes } from './flight-outcomes.ts';
import { InFlight } from './in-flight.ts';
import type { QuestionClaims } from './question-claims.ts';
import { type Question, questionKey } from './response/question.ts';
import { isInconclusive, type Resolution } from './resolution.ts';
import type { Clock } from '../../shared/clock.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';

/** Resolves the questions that this thread itself must resolve; see `Resolver.resolve`. */
export interface FlightResolver {
  resolve(question: Question, done: (resolution: Resolution) => void): void;
}

/** The outcome if another thread resolved the question and has finished. */
export interface AskedElsewhere {
  readonly kind: 'elsewhere';
  /** Outcome of the flight; null = unknown: the question must be sent again unless the cache has the answer. */
  readonly resolution: Resolution | null;
}

/** The outcome of a question. */
export type FlightOutcome = Resolution | AskedElsewhere;

/** Memory that the flights of a node's threads share. */
export interface SharedFlights {
  readonly claims: QuestionClaims;
  readonly outcomes: FlightOutcomes;
}

/** Flights of one area (`ClaimArea`). One per resolve thread. */
export class NodeFlights {
  /** Maximum wait for another thread, in milliseconds. */
  readonly timeoutMs: number;
  private readonly shared: SharedFlights | null;
  private readonly inFlight: InFlight<FlightOutcome>;
  private readonly logger: Logger;
  private isClosed = false;

  /** `shared` is null if no other thread resolves questions. */
  constructor(shared: SharedFlights | null, timeoutMs: number, logger: Logger) {
    this.shared = shared;
    this.timeoutMs = timeoutMs;
    this.inFlight = new InFlight(logger);
    this.logger = logger;
  }

  /**
   * Resolves the question with `taker`, for a partition of the cache, unless another thread is resolving it. `done` is
   * called exactly once, after `resolve` has returned. When `done` returns, a client's answer must be in the cache,
   * because other threads may then send the question.
   */
  resolve(
    taker: FlightResolver,
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
    const { shared } = this;
    const claim = shared === null ? null : shared.claims.claim(partition, question);
    if (claim?.isMine === false) {
      const { claims, outcomes } = shared!;
      void claims.ended(claim, this.timeoutMs).then(() => {
        this.inFlight.settle(key, { kind: 'elsewhere', resolution: outcomes.find(claim, key) });
      });
      return;
    }
    const settle = (resolution: Resolution): void => {
      this.inFlight.settle(key, resolution);
      if (claim === null) return;
      shared!.claims.release(claim, (waitedFor) => {
        if (!isInconclusive(resolution)) shared!.outcomes.put(waitedFor, key, resolution);
      });
    };
    try {
      taker.resolve(question, settle);
    } catch (error) {
      this.logger.error('could not send a query', { error: errorDetail(error) });
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

/**
 * The resolver for validation, which queries keys and delegations that many answers share: identical simultaneous
 * questions share one run on the whole node. Clients' questions are joined before they reach a resolver.
 */
export class SharedResolver implements FlightResolver {
  private readonly behind: FlightResolver;
  private readonly flights: NodeFlights;
  private readonly clock: Clock;

  constructor(behind: FlightResolver, flights: NodeFlights, clock: Clock) {
    this.behind = behind;
    this.flights = flights;
    this.clock = clock;
  }

  /**
   * Resolves the question, or gets the outcome from another thread that is already resolving it. `done` is called
   * exactly once, after `resolve` has returned.
   */
  resolve(question: Question, done: (resolution: Resolution) => void): void {
    const { behind, flights, clock } = this;
    const deadlineMs = clock.monotonicMs() + flights.timeoutMs;
    const take = (outcome: FlightOutcome): void => {
      const resolution = outcome.kind === 'elsewhere' ? outcome.resolution : outcome;
      if (resolution !== null) done(resolution);
      else if (clock.monotonicMs() < deadlineMs) flights.resolve(behind, POOLS_PARTITION, question, take);
      else done({ kind: 'failed', reason: 'late', rcode: Rcode.SERVFAIL, upstream: -1 });
    };
    flights.resolve(behind, POOLS_PARTITION, question, take);
  }

  /** Fails all waiting questions. */
  close(): void {
    this.flights.close();
  }
}
