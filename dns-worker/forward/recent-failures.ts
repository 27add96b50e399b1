/** Questions that failed lately: how long a failure is kept, and whether a stale answer has to wait for the next one. */
import type { Clock } from '../../shared/clock.ts';
import { questionKey } from '../resolve/response/question.ts';
import { isInconclusive } from '../resolve/resolution.ts';
import type { Failed, Question, Resolution } from '../resolve/resolver.ts';
import { MAX_FAILURE_TTL_SECS, MIN_FAILURE_TTL_SECS } from './answer-lifetime.ts';

/** Maximum number of questions kept; the oldest are evicted first. */
const MAX_FAILURES = 4096;
/** A stale answer is given at once for this long after a failure, milliseconds. */
const STALE_AT_ONCE_MS = 5000;
/** A failure later than this is the first one again, milliseconds. */
const REPEATED_WITHIN_MS = 30_000;

/** Failures that are kept longer when they repeat; those between Weir and the server may be over in a moment. */
const GROWING: ReadonlySet<Failed['reason']> = new Set(['timeout', 'servfail', 'refused']);

interface Failure {
  /** Failures in a row. */
  readonly count: number;
  /** Time on the monotonic clock. */
  readonly atMs: number;
}

/** The failures that a thread has seen. */
export class RecentFailures {
  private readonly clock: Clock;
  /** Oldest first. */
  private readonly failures = new Map<string, Failure>();
  /** The outcome that was noted last: it may serve many clients. */
  private last: Resolution | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whether a question has failed so lately that a stale answer does not wait for the next failure. */
  has(question: Question): boolean {
    if (this.failures.size === 0) return false;
    const failure = this.failures.get(questionKey(question));
    return failure !== undefined && this.clock.monotonicMs() - failure.atMs < STALE_AT_ONCE_MS;
  }

  /**
   * Notes the outcome of a question. A bogus answer does not count, as no stale answer replaces it; nor does a failure
   * that says nothing about the question.
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

  /** Seconds for which a failure that was noted is kept: one, and twice as long each time it repeats. */
  lifetimeSecs(question: Question, { reason }: Failed): number {
    if (reason === 'bogus' || reason === 'unusable') return MAX_FAILURE_TTL_SECS;
    if (!GROWING.has(reason)) return MIN_FAILURE_TTL_SECS;
    const count = this.failures.get(questionKey(question))?.count ?? 1;
    return Math.min(MAX_FAILURE_TTL_SECS, MIN_FAILURE_TTL_SECS * 2 ** (count - 1));
  }
}
