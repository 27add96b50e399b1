/**
 * One question from the first attempt to the outcome: waves of servers (`pool.ts`), the next wave when all
 * asked so far have failed or a step's time is over, repetition when everybody has been asked, the first
 * good answer wins, and no error counts while another server may still answer.
 */
import type { Clock } from '../../shared/clock.ts';
import { Rcode, rcodeName } from '../../shared/dns/iana.ts';
import { FlagsLow } from '../../shared/dns/wire.ts';
import type { DnssecStatusCode } from '../../shared/query-log.ts';
import type { Question } from './response/question.ts';
import type { CacheableAnswer } from './response/response-reader.ts';
import type { AttemptOutcome } from './transport/attempt.ts';
import { isDefinitive } from './transport/attempt.ts';
import type { Upstream, UpstreamAttempt } from './upstream.ts';

/** A server's answer. `upstream` is an index into the resolver's upstreams. */
export interface Answered {
  readonly kind: 'answer';
  readonly answer: CacheableAnswer;
  readonly upstream: number;
  /** Where it was validated: what that came to. */
  readonly dnssec?: DnssecStatusCode;
  /** And the share that it took of what one question may cost; 1 = all of it. */
  readonly cost?: number;
}

/** There is no answer. `upstream` is -1 if no server was asked. */
export interface Failed {
  readonly kind: 'failed';
  readonly reason:
    | 'timeout'
    | 'servfail'
    | 'refused'
    | 'network'
    /** A server sent an unusable answer: too long, endless or malformed. */
    | 'unusable'
    | 'no-upstreams'
    /** This machine lacked a resource: nothing is known about the question, so nothing is cached. */
    | 'overloaded'
    /** The time was over while other threads asked: nothing is known about the question either. */
    | 'late'
    | 'bogus';
  /** What to tell the client. */
  readonly rcode: number;
  readonly upstream: number;
  readonly dnssec?: DnssecStatusCode;
  /** Why validation failed (RFC 8914). */
  readonly extendedError?: number;
}

/** How a question ended. */
export type Resolution = Answered | Failed;

/** A failure that no server caused: it concerns one request only, so it is neither kept nor shared. */
export function isInconclusive(resolution: Resolution): boolean {
  if (resolution.kind === 'answer') return false;
  const { reason, upstream } = resolution;
  // A run that was broken off, as this thread or its pools end.
  return reason === 'overloaded' || reason === 'late' || (reason === 'network' && upstream < 0);
}

/** Bounds of the time for which one wave is waited for alone, milliseconds. */
const MIN_STEP_MS = 100;
const MAX_STEP_MS = 1000;
/**
 * While there are other servers to ask, the wait for a wave is shorter: so many times its servers' usual latency,
 * between these bounds, milliseconds.
 */
const USUAL_TIMES = 4;
const MIN_USUAL_STEP_MS = 200;
const MAX_USUAL_STEP_MS = 500;
/** Times that one question is sent, to all servers together: bounds what a client's question can cause. */
const MAX_SENT = 64;

/** One question in flight. */
export class QuestionRun {
  private readonly question: Question;
  private readonly waves: readonly (readonly Upstream[])[];
  private readonly clock: Clock;
  private readonly done: (resolution: Resolution) => void;
  private readonly deadlineMs: number;
  private readonly stepMs: number;
  private readonly pending = new Set<UpstreamAttempt>();
  /** Servers that answered with a response code that settles nothing. */
  private readonly doubtful: { readonly upstream: Upstream; readonly rcode: number }[] = [];
  /** Index of the last server with an unusable answer; -1 = none. */
  private unusable = -1;
  /** A server could not be asked for lack of local resources. */
  private isShort = false;
  private nextWave = 0;
  private lastAsked = -1;
  private sent = 0;
  private timer: NodeJS.Timeout | undefined;
  private over = false;
  private isDone = false;

  /** `waves` is not empty. Nothing happens before `start`. */
  constructor(
    question: Question,
    waves: readonly (readonly Upstream[])[],
    timing: { readonly clock: Clock; readonly timeoutMs: number },
    done: (resolution: Resolution) => void,
  ) {
    this.question = question;
    this.waves = waves;
    this.clock = timing.clock;
    this.done = done;
    this.deadlineMs = timing.clock.monotonicMs() + timing.timeoutMs;
    this.stepMs = Math.min(MAX_STEP_MS, Math.max(MIN_STEP_MS, timing.timeoutMs / (waves.length + 1)));
  }

  /** Asks the first wave. `done` is called once, after this has returned; not at all where this throws. */
  start(): void {
    try {
      this.launch();
      this.arm();
    } catch (error) {
      this.isDone = true;
      this.breakOff();
      throw error;
    }
  }

  /** Gives up, and says so. */
  cancel(): void {
    this.breakOff();
    this.end({ kind: 'failed', reason: 'network', rcode: Rcode.SERVFAIL, upstream: -1 });
  }

  private breakOff(): void {
    this.stop();
    for (const attempt of this.pending) attempt.cancel();
  }

  private launch(): void {
    const wave = this.waves[this.nextWave++] ?? [];
    for (const upstream of wave) {
      if (!this.maySend()) break;
      this.lastAsked = upstream.index;
      this.pending.add(upstream.ask(this.question, this.onOutcome));
    }
  }

  private arm(): void {
    const remainingMs = this.deadlineMs - this.clock.monotonicMs();
    this.timer = setTimeout(this.onStep, Math.max(1, Math.min(this.waitMs(), remainingMs)));
  }

  /** How long to wait before the next wave, or a repetition. */
  private waitMs(): number {
    const wave = this.waves[this.nextWave - 1] ?? [];
    if (this.nextWave >= this.waves.length) return this.stepMs;
    const usualMs = Math.max(...wave.map(({ health }) => health.smoothedLatencyMs || Infinity));
    const patienceMs = Math.min(MAX_USUAL_STEP_MS, Math.max(MIN_USUAL_STEP_MS, USUAL_TIMES * usualMs));
    return Math.min(this.stepMs, patienceMs);
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
    if (this.clock.monotonicMs() >= this.deadlineMs) {
      this.stop();
      for (const attempt of this.pending) {
        this.isShort ||= attempt.wasQueued;
        attempt.timeOut();
      }
      this.end(this.failure('timeout'));
      return;
    }
    for (const attempt of this.pending) attempt.noteSilence();
    if (this.nextWave < this.waves.length) this.launch();
    else for (const attempt of this.pending) if (this.maySend()) attempt.resend();
    this.arm();
  }

  private readonly onOutcome = (attempt: UpstreamAttempt, outcome: AttemptOutcome): void => {
    try {
      this.take(attempt, outcome);
    } catch (error) {
      this.fail(error);
    }
  };

  private take(attempt: UpstreamAttempt, outcome: AttemptOutcome): void {
    this.pending.delete(attempt);
    if (this.over) return;
    if (outcome.kind === 'answer') {
      const { rcode } = outcome.answer;
      if (isDefinitive(rcode)) {
        this.win(attempt, outcome.answer);
        return;
      }
      this.doubtful.push({ upstream: attempt.upstream, rcode });
    } else if (outcome.reason === 'unusable') this.unusable = attempt.upstream.index;
    else if (outcome.reason === 'local') this.isShort = true;
    if (this.pending.size > 0) return;
    if (this.nextWave < this.waves.length) {
      this.launch();
      return;
    }
    this.stop();
    this.end(this.failure('network'));
  }

  private win(attempt: UpstreamAttempt, answer: CacheableAnswer): void {
    this.stop();
    for (const { upstream, rcode } of this.doubtful) {
      upstream.health.recordFault(`${rcodeName(rcode)} where another server answered`);
    }
    const remainingMs = this.deadlineMs - this.clock.monotonicMs();
    for (const loser of this.pending) loser.upstream.linger(loser, Math.max(1, remainingMs));
    this.end({ kind: 'answer', answer, upstream: attempt.upstream.index });
  }

  /** Ends the question after an unexpected error, then passes the error to the thread's guard. */
  private fail(error: unknown): never {
    try {
      this.breakOff();
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
    clearTimeout(this.timer);
  }

  /** An unusable answer says more than silence. */
  private failure(otherwise: 'timeout' | 'network'): Resolution {
    const doubtful = this.doubtful.at(-1);
    if (doubtful === undefined) {
      if (this.unusable >= 0)
        return { kind: 'failed', reason: 'unusable', rcode: Rcode.SERVFAIL, upstream: this.unusable };
      // Nothing is known then: a server that was not asked might have answered.
      if (this.isShort)
        return { kind: 'failed', reason: 'overloaded', rcode: Rcode.SERVFAIL, upstream: this.lastAsked };
      return { kind: 'failed', reason: otherwise, rcode: Rcode.SERVFAIL, upstream: this.lastAsked };
    }
    const { upstream } = doubtful;
    // Rcodes in OPT concern the hop between Weir and the server (BADVERS, BADCOOKIE), not the client.
    const rcode = doubtful.rcode > FlagsLow.RCODE ? Rcode.SERVFAIL : doubtful.rcode;
    const reason = rcode === Rcode.REFUSED ? 'refused' : 'servfail';
    return { kind: 'failed', reason, rcode, upstream: upstream.index };
  }
}
