/**
 * Recently failed questions: determines how long a failure is cached, and whether a stale answer is sent without
 * waiting.
 */
import type { Clock } from '../../shared/clock.ts';
import { questionKey } from '../resolve/response/question.ts';
import { isInconclusive } from '../resolve/resolution.ts';
import type { Failed, Question, Resolution } from '../resolve/resolver.ts';
import { MAX_FAILURE_TTL_SECS, MIN_FAILURE_TTL_SECS } from './answer-lifetime.ts';

/** Maximum number of questions kept; the oldest are evicted first. */
const MAX_FAILURES = 4096;
/** Milliseconds after a failure in which a stale answer is sent without waiting for the upstreams. */
const STALE_AT_ONCE_MS = 5000;
/** A failure later than this many milliseconds after the previous one counts as the first. */
const REPEATED_WITHIN_MS = 30_000;

/**
 * Reasons whose repeated failures are cached longer. Connection problems between Weir and a server are not among them,
 * because they may end at any moment.
 */
const GROWING: ReadonlySet<Failed['reason']> = new Set(['timeout', 'servfail', 'refused']);

interface Failure {
  /** Number of failures in a row. */
  readonly count: number;
  /** Monotonic time of the last failure, in milliseconds. */
  readonly atMs: number;
}

/** The recent failures of one thread. */
export class RecentFailures {
  private readonly clock: Clock;
  /** Failures by question, oldest first. */
  private readonly failures = new Map<string, Failure>();
  /** The last recorded outcome: many clients may wait for the same outcome, which counts once. */
  private last: Resolution | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whether a question has failed so recently that a stale answer is sent without waiting for the upstreams. */
  has(question: Question): boolean {
    if (this.failures.size === 0) return false;
    const failure = this.failures.get(questionKey(question));
    return failure !== undefined && this.clock.monotonicMs() - failure.atMs < STALE_AT_ONCE_MS;
  }

  /**
   * Records the outcome of a question. A bogus answer does not count, since no stale answer replaces it; a failure that
   * is not due to the question does not count either.
   */
  note(question: Question, resolution: Resolution): void {
    if (this.last === resolution) return;
    const hasFailed =
      resolution.kind === 'failed' && resolution.reason !== 'bogus' && !isInconclusive(resolution);
    if (!hasFailed && this.failures.size === 0) return;
    this.last = resolution;
    const key = questionKey(question);
    const nowMs = this.clock.monotonicMs();
    const before = this.failures.get(key);
    this.failures.delete(key);
    if (!hasFailed) return;
    const isRepeated = before !== undefined && nowMs - before.atMs < REPEATED_WITHIN_MS;
    this.failures.set(key, { count: isRepeated ? before.count + 1 : 1, atMs: nowMs });
    const [oldest] = this.failures.keys();
    if (this.failures.size > MAX_FAILURES && oldest !== undefined) this.failures.delete(oldest);
  }

  /** Seconds for which a recorded failure is cached: one, doubled each time the failure repeats. */
  lifetimeSecs(question: Question, { reason }: Failed): number {
    if (reason === 'bogus' || reason === 'unusable') return MAX_FAILURE_TTL_SECS;
    if (!GROWING.has(reason)) return MIN_FAILURE_TTL_SECS;
    const count = this.failures.get(questionKey(question))?.count ?? 1;
    return Math.min(MAX_FAILURE_TTL_SECS, MIN_FAILURE_TTL_SECS * 2 ** (count - 1));
  }
}
