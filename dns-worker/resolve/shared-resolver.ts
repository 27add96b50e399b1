/**
 * The resolver for validation, which asks for keys and delegations that many answers share: identical questions share
 * one run here, and run one after the other on the whole node. `node-flights.ts` joins clients' questions before they
 * reach a resolver.
 */
import type { Clock } from '../../shared/clock.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import type { FlightOutcome, NodeFlights, QuestionTaker } from './node-flights.ts';
import type { Question } from './response/question.ts';
import type { Resolution } from './question-run.ts';

/** Wraps a resolver of the pools. */
export class SharedResolver implements QuestionTaker {
  private readonly behind: QuestionTaker;
  private readonly flights: NodeFlights;
  private readonly clock: Clock;

  constructor(behind: QuestionTaker, flights: NodeFlights, clock: Clock) {
    this.behind = behind;
    this.flights = flights;
    this.clock = clock;
  }

  /**
   * Resolves once no other thread has the question in flight; their results are not known here. `done` is called
   * exactly once, never before this has returned.
   */
  resolve(question: Question, done: (resolution: Resolution) => void): void {
    const { behind, flights, clock } = this;
    const deadlineMs = clock.monotonicMs() + flights.timeoutMs;
    const take = (outcome: FlightOutcome): void => {
      if (outcome !== null) done(outcome);
      else if (clock.monotonicMs() < deadlineMs) flights.resolve(behind, POOLS_PARTITION, question, take);
      else done({ kind: 'failed', reason: 'timeout', rcode: Rcode.SERVFAIL, upstream: -1 });
    };
    flights.resolve(behind, POOLS_PARTITION, question, take);
  }

  /** Fails all that wait. */
  close(): void {
    this.flights.close();
  }
}
