/**
 * Answers that come after their question has failed. The question is listened for a while longer; what comes is kept
 * for a moment, so that it is answered at once when it is asked again, by the usual way through validation and cache.
 */
import type { Clock } from '../../shared/clock.ts';
import type { Answered, Failed } from './resolution.ts';
import { type Question, questionKey } from './response/question.ts';

/** Questions that are listened for, in one resolve thread; each holds a socket. */
const MAX_LISTENING = 256;
/** Lifetime of a late answer here, milliseconds. Its TTL is not counted down. */
const KEPT_MS = 1000;
const MAX_KEPT = 256;

/**
 * Failures whose questions are listened for, with the call that follows a late answer. Not a property of theirs:
 * outcomes may be handed to other threads.
 */
const awaited = new WeakMap<Failed, (() => void) | null>();

/** Calls `then` when an answer comes to a question that has failed, if it is listened for; the first one counts. */
export function awaitLateAnswer(failure: Failed, then: () => void): void {
  if (awaited.get(failure) === null) awaited.set(failure, then);
}

/** A question that has failed, see `QuestionRun`. */
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

  /** Listens for the answer to a question that has just failed. */
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

  /** The answer to a question that came late just now, once; else stops listening, as it is asked again. */
  take(question: Question): Answered | null {
    if (this.runs.size === 0 && this.kept.size === 0) return null;
    const key = questionKey(question);
    const found = this.kept.get(key);
    this.kept.delete(key);
    if (found !== undefined && this.clock.monotonicMs() < found.untilMs) return found.answered;
    this.stop(key);
    return null;
  }

  /** Stops listening. */
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
