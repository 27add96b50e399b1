/**
 * When a client gets a stale answer (RFC 8767 section 5): after a delay, or at once if the question has just failed.
 */
import type { Clock } from '../../shared/clock.ts';
import { FAILURE_TTL_SECS } from './answer-lifetime.ts';
import { questionKey } from '../resolve/response/question.ts';
import { isInconclusive } from '../resolve/question-run.ts';
import type { Question, Resolution } from '../resolve/resolver.ts';

/** Most questions kept; the oldest are dropped first. */
const MAX_FAILURES = 4096;

/** RFC 8767 section 5, client response timer, milliseconds. */
const CLIENT_RESPONSE_MS = 1800;

/** Starts at construction; asks once for the stale answer. */
export class StaleTimer {
  /** Whether the client has got one. */
  hasAnswered = false;
  private readonly timer: NodeJS.Timeout;

  /** `answer` says whether it could. */
  constructor(answer: () => boolean) {
    this.timer = setTimeout(() => {
      this.hasAnswered = answer();
    }, CLIENT_RESPONSE_MS);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

/** Questions that failed lately: while a failure is fresh, a stale answer does not wait for the next one. */
export class RecentFailures {
  private readonly clock: Clock;
  /** End of each failure's time on the monotonic clock, oldest first. */
  private readonly untilMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  has(question: Question): boolean {
    if (this.untilMs.size === 0) return false;
    const untilMs = this.untilMs.get(questionKey(question));
    return untilMs !== undefined && this.clock.monotonicMs() < untilMs;
  }

  /**
   * Records the outcome of a question. A bogus answer does not count, as no stale answer replaces it; nor does a
   * failure that says nothing about the question.
   */
  note(question: Question, resolution: Resolution): void {
    const hasFailed =
      resolution.kind === 'failed' && resolution.reason !== 'bogus' && !isInconclusive(resolution);
    if (!hasFailed && this.untilMs.size === 0) return;
    const key = questionKey(question);
    this.untilMs.delete(key);
    if (!hasFailed) return;
    this.untilMs.set(key, this.clock.monotonicMs() + FAILURE_TTL_SECS * 1000);
    const [oldest] = this.untilMs.keys();
    if (this.untilMs.size > MAX_FAILURES && oldest !== undefined) this.untilMs.delete(oldest);
  }
}
