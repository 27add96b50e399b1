/**
 * One question from the first attempt to the outcome: queries servers in waves (`pool.ts`), the next wave when all
 * servers queried so far have failed or have been silent for their usual time; sends copies of the query to silent
 * servers, and retries after failures (`send-times.ts`). The first good answer wins; the question does not fail while
 * there is time and a server that may still answer. After its time limit, a question can still wait for a late answer
 * (`late-answers.ts`).
 */
import type { Clock } from '../../shared/clock.ts';
import { Rcode, rcodeName } from '../../shared/dns/iana.ts';
import { FlagsLow } from '../../shared/dns/wire.ts';
import type { Question } from './response/question.ts';
import type { CacheableAnswer } from './response/response-reader.ts';
import { type AttemptOutcome, isDefinitive } from './transport/attempt.ts';
import type { Answered, Resolution } from './resolution.ts';
import { hedgeWaitMs, MAX_COPIES, resendWaitMs, retryWaitMs } from './send-times.ts';
import type { Upstream, UpstreamAttempt } from './upstream.ts';
import { type WakeGroup, WakeGroups } from './wake-groups.ts';

/**
 * Maximum number of times that one question is sent, to all servers together: limits the traffic that a client's query
 * can cause.
 */
const MAX_SENT = 64;
/** How long to wait for a late answer after a failure, in milliseconds. */
const LISTENING_MS = 5000;
/** SERVFAIL is accepted as the result if this many servers return it, or one server returns it this many times. */
const ACCEPTED_SERVFAILS = 2;

/** A server that has been queried for the question, with its attempts. */
interface AskedServer {
  readonly upstream: Upstream;
  /** The attempt in flight; null = it has failed. */
  attempt: UpstreamAttempt | null;
  copies: number;
  /** Attempts that failed without an answer. */
  losses: number;
  /** When the question is sent to the server again; Infinity = never. */
  nextMs: number;
  isOverTcp: boolean;
}

/** One question in flight. */
export class QuestionRun {
  private readonly question: Question;
  private readonly waves: readonly (readonly Upstream[])[];
  private readonly clock: Clock;
  private readonly done: (resolution: Resolution) => void;
  private readonly startedMs: number;
  private readonly deadlineMs: number;
  private readonly asked: AskedServer[] = [];
  /** Servers that answered with a response code that does not settle the question. */
  private readonly doubtful: { readonly upstream: Upstream; readonly rcode: number }[] = [];
  /** Index of the last server with an unusable answer; -1 = none. */
  private unusable = -1;
  /** Whether a server could not be queried for lack of local resources. */
  private isShort = false;
  private nextWave = 0;
  private hedgeMs = Infinity;
  private sent = 0;
  private readonly wakes: WakeGroups;
  /** Group of questions that are woken together; null = not waiting. */
  private group: WakeGroup | null = null;
  private listening: NodeJS.Timeout | undefined;
  private over = false;
  private isDone = false;
  /** Callback for the late answer, or for null if no late answer can arrive. */
  private onLate: ((answered: Answered | null) => void) | null = null;

  /** `waves` is not empty. Nothing happens before `start`. Questions with the same `wakes` are woken together. */
  constructor(
    question: Question,
    waves: readonly (readonly Upstream[])[],
    timing: { readonly clock: Clock; readonly timeoutMs: number; readonly wakes?: WakeGroups },
    done: (resolution: Resolution) => void,
  ) {
    this.question = question;
    this.waves = waves;
    this.clock = timing.clock;
    this.wakes = timing.wakes ?? new WakeGroups(timing.clock);
    this.done = done;
    this.startedMs = timing.clock.monotonicMs();
    this.deadlineMs = (question.firstTry?.sinceMs ?? this.startedMs) + timing.timeoutMs;
  }

  /** Queries the first wave. `done` is called once, after `start` has returned; not at all if `start` throws. */
  start(): void {
    try {
      this.launch();
      this.arm();
    } catch (error) {
      this.isDone = true;
      this.cancelAttempts();
      throw error;
    }
  }

  /** Cancels the question and reports the failure; stops waiting for a late answer. */
  cancel(): void {
    this.onLate = null;
    this.cancelAttempts();
    this.end({ kind: 'failed', reason: 'network', rcode: Rcode.SERVFAIL, upstream: -1 });
  }

  /** Whether a late answer may still arrive after the timeout. */
  get isOpen(): boolean {
    return this.asked.some(({ attempt }) => attempt !== null);
  }

  /** Waits for a late answer for a while; `onLate` is called once, with null if none has arrived. */
  listen(onLate: (answered: Answered | null) => void): void {
    this.onLate = onLate;
    this.listening = setTimeout(() => this.endLate(null), LISTENING_MS).unref();
  }

  private cancelAttempts(): void {
    this.stop();
    for (const asked of this.asked) {
      asked.attempt?.cancel();
      asked.attempt = null;
    }
  }

  private launch(): void {
    const wave = this.waves[this.nextWave++] ?? [];
    const tried = this.nextWave === 1 ? this.question.firstTry?.outcome : undefined;
    const hasWaited = tried === 'silent';
    const isOnly = this.waves.length === 1 && wave.length === 1;
    const hasFailed = isOnly && tried === 'servfail';
    if (hasFailed) this.doubtful.push({ upstream: wave[0]!, rcode: Rcode.SERVFAIL });
    let usualMs = 0;
    for (const upstream of wave) {
      if (!this.maySend()) break;
      usualMs = Math.max(usualMs, upstream.health.usualLatencyMs);
      const asked: AskedServer = {
        upstream,
        attempt: null,
        copies: hasWaited || hasFailed ? 2 : 1,
        losses: 0,
        nextMs: Infinity,
        isOverTcp: false,
      };
      this.asked.push(asked);
      asked.attempt = upstream.ask(this.question, this.onOutcome);
      this.planResend(asked);
    }
    const hasMore = this.nextWave < this.waves.length;
    this.hedgeMs = hasMore ? this.clock.monotonicMs() + hedgeWaitMs(usualMs, hasWaited) : Infinity;
  }

  private planResend(asked: AskedServer): void {
    const nowMs = this.clock.monotonicMs();
    const { usualLatencyMs } = asked.upstream.health;
    asked.nextMs = nowMs + resendWaitMs(asked.copies, usualLatencyMs, this.deadlineMs - nowMs, Math.random());
  }

  private arm(): void {
    this.disarm();
    let nextMs = Math.min(this.deadlineMs, this.hedgeMs);
    for (const asked of this.asked) nextMs = Math.min(nextMs, asked.nextMs);
    this.group = this.wakes.add(this.onStep, nextMs);
  }

  private disarm(): void {
    if (this.group !== null) this.wakes.remove(this.onStep, this.group);
    this.group = null;
  }

  private maySend(): boolean {
    return this.sent++ < MAX_SENT;
  }

  private readonly onStep = (): void => {
    try {
      this.step();
    } catch (error) {
      this.fail(error);
    }
  };

  private step(): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs >= this.deadlineMs) {
      this.giveUp();
      return;
    }
    if (nowMs >= this.hedgeMs) {
      const { firstTry } = this.question;
      const sinceMs = firstTry?.outcome === 'silent' ? firstTry.sinceMs : undefined;
      for (const { attempt } of this.asked) attempt?.noteSilence(this.nextWave === 1 ? sinceMs : undefined);
      this.launch();
    }
    for (const asked of this.asked) if (nowMs >= asked.nextMs) this.sendAgain(asked);
    this.arm();
  }

  /** Sends a copy to a silent server, or retries a server that has failed. */
  private sendAgain(asked: AskedServer): void {
    asked.nextMs = Infinity;
    if (!this.maySend()) return;
    asked.copies++;
    if (asked.attempt !== null) asked.attempt.resend();
    else asked.attempt = asked.upstream.askAgain(this.question, asked.isOverTcp, this.onOutcome);
    this.planResend(asked);
  }

  private readonly onOutcome = (attempt: UpstreamAttempt, outcome: AttemptOutcome): void => {
    try {
      this.handle(attempt, outcome);
    } catch (error) {
      this.fail(error);
    }
  };

  private handle(attempt: UpstreamAttempt, outcome: AttemptOutcome): void {
    const asked = this.asked.find((one) => one.attempt === attempt);
    if (asked !== undefined) {
      asked.attempt = null;
      asked.nextMs = Infinity;
    }
    const isAnswer = outcome.kind === 'answer' && isDefinitive(outcome.answer.rcode);
    if (this.over || asked === undefined) {
      if (this.onLate === null) return;
      if (isAnswer)
        this.endLate({ kind: 'answer', answer: outcome.answer, upstream: attempt.upstream.index });
      else if (!this.isOpen) this.endLate(null);
      return;
    }
    if (isAnswer) {
      this.win(attempt, outcome.answer);
      return;
    }
    this.note(asked, outcome);
    this.proceed();
  }

  /** Records an outcome that is not an answer, and schedules the next attempt with this server. */
  private note(asked: AskedServer, outcome: AttemptOutcome): void {
    const { upstream } = asked;
    const sinceStartMs = this.clock.monotonicMs() - this.startedMs;
    if (outcome.kind === 'answer') {
      const { rcode } = outcome.answer;
      const isFirst = this.doubtful.every((other) => other.upstream !== upstream);
      this.doubtful.push({ upstream, rcode });
      if (rcode !== Rcode.SERVFAIL || !isFirst || asked.copies >= MAX_COPIES) return;
      asked.nextMs = this.startedMs + sinceStartMs + retryWaitMs(1, sinceStartMs, Math.random());
    } else if (outcome.reason === 'unusable') this.unusable = upstream.index;
    else {
      this.isShort ||= outcome.reason === 'local';
      asked.losses++;
      let waitMs = retryWaitMs(asked.losses, sinceStartMs, Math.random());
      if (waitMs === Infinity && upstream.hasOtherTransport && !asked.isOverTcp) {
        asked.isOverTcp = true;
        waitMs = 0;
      }
      asked.nextMs = this.startedMs + sinceStartMs + waitMs;
    }
  }

  /** After a failed attempt: waits for the other servers, queries the next wave, retries, or ends the question. */
  private proceed(): void {
    if (this.isOpen) {
      this.arm();
      return;
    }
    if (this.nextWave < this.waves.length) {
      this.launch();
      this.arm();
      return;
    }
    const failures = this.doubtful.filter(({ rcode }) => rcode === Rcode.SERVFAIL);
    const isAccepted = failures.length >= ACCEPTED_SERVFAILS || this.unusable >= 0;
    const again = this.asked.filter(({ nextMs }) => nextMs < this.deadlineMs);
    if (isAccepted || again.length === 0) {
      this.stop();
      this.end(this.failure('network'));
      return;
    }
    // Do not wait for other servers if only one server has responded.
    const doubted = again.find(({ upstream }) => upstream === failures[0]?.upstream);
    if (doubted !== undefined) this.sendAgain(doubted);
    this.arm();
  }

  /**
   * Called at the time limit: records the silence of each server that did not answer, but still accepts a late answer.
   */
  private giveUp(): void {
    this.stop();
    const wasOpen = this.isOpen;
    for (const asked of this.asked) {
      if (asked.attempt === null) continue;
      this.isShort ||= asked.attempt.wasQueued;
      asked.attempt.expire();
      if (asked.attempt.isOver) asked.attempt = null;
    }
    this.end(this.failure(wasOpen ? 'timeout' : 'network'));
    if (this.onLate === null) this.cancelAttempts();
  }

  private endLate(answered: Answered | null): void {
    const { onLate } = this;
    this.onLate = null;
    this.cancelAttempts();
    onLate?.(answered);
  }

  private win(attempt: UpstreamAttempt, answer: CacheableAnswer): void {
    this.stop();
    if (this.doubtful.length > 0) this.blameOthers(attempt.upstream);
    const remainingMs = this.deadlineMs - this.clock.monotonicMs();
    for (const { attempt: loser } of this.asked) loser?.upstream.linger(loser, Math.max(1, remainingMs));
    this.end({ kind: 'answer', answer, upstream: attempt.upstream.index });
  }

  /** Records a fault of each server that failed although `winner` answered. */
  private blameOthers(winner: Upstream): void {
    const rcodes = new Map(this.doubtful.map(({ upstream, rcode }) => [upstream, rcode]));
    rcodes.delete(winner);
    for (const [upstream, rcode] of rcodes)
      upstream.health.recordFault(`${rcodeName(rcode)} although another server answered`);
  }

  /** Ends the question after an unexpected error, then passes the error to the thread's guard. */
  private fail(error: unknown): never {
    try {
      this.cancelAttempts();
    } finally {
      this.end({ kind: 'failed', reason: 'servfail', rcode: Rcode.SERVFAIL, upstream: this.lastAsked });
    }
    throw error;
  }

  private end(resolution: Resolution): void {
    if (this.isDone) return;
    this.isDone = true;
    this.done(resolution);
  }

  private stop(): void {
    this.over = true;
    this.disarm();
    clearTimeout(this.listening);
  }

  private get lastAsked(): number {
    return this.asked.at(-1)?.upstream.index ?? -1;
  }

  /** An unusable answer is a more specific reason than silence. */
  private failure(otherwise: 'timeout' | 'network'): Resolution {
    const doubtful = this.doubtful.at(-1);
    if (doubtful === undefined) {
      if (this.unusable >= 0)
        return { kind: 'failed', reason: 'unusable', rcode: Rcode.SERVFAIL, upstream: this.unusable };
      // The outcome is unknown: a server that was not queried might have answered.
      if (this.isShort)
        return { kind: 'failed', reason: 'overloaded', rcode: Rcode.SERVFAIL, upstream: this.lastAsked };
      return { kind: 'failed', reason: otherwise, rcode: Rcode.SERVFAIL, upstream: this.lastAsked };
    }
    const { upstream } = doubtful;
    // Extended rcodes in OPT (BADVERS, BADCOOKIE) refer to Weir's query to the server, not to the client's query.
    const rcode = doubtful.rcode > FlagsLow.RCODE ? Rcode.SERVFAIL : doubtful.rcode;
    const reason = rcode === Rcode.REFUSED ? 'refused' : 'servfail';
    return { kind: 'failed', reason, rcode, upstream: upstream.index };
  }
}
