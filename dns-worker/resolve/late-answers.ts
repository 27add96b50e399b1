/**
 * Answers that arrive after their question has failed. After a failure, the question's sockets stay open for a while. A
 * late answer is kept briefly, so that the next identical question is answered immediately, with the usual validation
 * and caching.
 */
import type { Clock } from '../../shared/clock.ts';
import type { Answered, Failed } from './resolution.ts';
import { type Question, questionKey } from './response/question.ts';

/** Maximum number of failed questions that are still awaited per resolve thread; each uses a socket. */
const MAX_LISTENING = 256;
/** Milliseconds for which a late answer is kept, without counting down its TTL. */
const KEPT_MS = 1000;
const MAX_KEPT = 256;

/**
 * Failures whose late answers are awaited, with the callback for them. This is not a property of the failure, because a
 * callback cannot be passed to other threads.
 */
const awaited = new WeakMap<Failed, (() => void) | null>();

/**
 * Calls `then` if a late answer arrives for a failed question that is still awaited; only the first call of this
 * function for a failure has an effect.
 */
export function awaitLateAnswer(failure: Failed, then: () => void): void {
  if (awaited.get(failure) === null) awaited.set(failure, then);
}

/** A failed question, see `QuestionRun`. */
interface FailedRun {
  listen(onLate: (answered: Answered | null) => void): void;
  cancel(): void;
}

/** The late answers of one resolver. */
export class LateAnswers {
  private readonly clock: Clock;
  private readonly runs = new Map<string, FailedRun>();
  private readonly kept = new Map<string, { readonly answered: Answered; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Waits for the late answer to a question that has just failed. */
  listen(question: Question, run: FailedRun, failure: Failed): void {
    const key = questionKey(question);
    if (this.runs.size >= MAX_LISTENING) {
      run.cancel();
      return;
    }
    this.stop(key);
    this.runs.set(key, run);
    awaited.set(failure, null);
    run.listen((answered) => {
      if (this.runs.get(key) === run) this.runs.delete(key);
      if (answered === null) return;
      this.keep(key, answered);
      awaited.get(failure)?.();
    });
  }

  /**
   * Returns the late answer to a question once. If there is no late answer, stops waiting for one, because the question
   * is sent again.
   */
  take(question: Question): Answered | null {
    if (this.runs.size === 0 && this.kept.size === 0) return null;
    const key = questionKey(question);
    const found = this.kept.get(key);
    this.kept.delete(key);
    if (found !== undefined && this.clock.monotonicMs() < found.untilMs) return found.answered;
    this.stop(key);
    return null;
  }

  /** Stops waiting for late answers. */
  close(): void {
    for (const key of [...this.runs.keys()]) this.stop(key);
    this.kept.clear();
  }

  private stop(key: string): void {
    const run = this.runs.get(key);
    this.runs.delete(key);
    run?.cancel();
  }

  private keep(key: string, answered: Answered): void {
    this.kept.delete(key);
    this.kept.set(key, { answered, untilMs: this.clock.monotonicMs() + KEPT_MS });
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
  }
}
