/**
 * The resolver for validation, which asks for keys and delegations that many answers share: identical questions at the
 * same time share one run on the whole node. `node-flights.ts` joins clients' questions before they reach a resolver.
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
   * Resolves, or takes what another thread hands over that has the question in flight. `done` is called exactly once,
   * never before this has returned.
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

  /** Fails all that wait. */
  close(): void {
    this.flights.close();
  }
}
