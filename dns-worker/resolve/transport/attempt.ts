/** One question in flight to one upstream, and the effect of its outcome on the server's health. */
import type { Clock } from '../../../shared/clock.ts';
import { Rcode, rcodeName } from '../../../shared/dns/iana.ts';
import type { Exchange, ExchangeOutcome } from './exchange.ts';
import type { Health } from '../health/health.ts';
import type { CacheableAnswer } from '../response/response-reader.ts';

/** The outcome of an attempt that was not cancelled. */
export type AttemptOutcome =
  | { readonly kind: 'answer'; readonly answer: CacheableAnswer }
  | { readonly kind: 'failed'; readonly reason: 'network' | 'malformed' | 'unusable' | 'local' };

/** An upstream with the health that an attempt affects. */
interface WithHealth {
  readonly health: Health;
}

/** Purpose of an attempt: a client's question, a retry after a failure that was already counted, or a probe. */
export type AttemptKind = 'live' | 'repeated' | 'probe';

/** Called at most once, after `ask` has returned. */
export type AttemptDone<U extends WithHealth> = (attempt: Attempt<U>, outcome: AttemptOutcome) => void;

/** Whether a response code settles a question; with other codes, another server may give a better answer. */
export function isDefinitive(rcode: number): boolean {
  return rcode === Rcode.NOERROR || rcode === Rcode.NXDOMAIN || rcode === Rcode.YXDOMAIN;
}

const TRUNCATED_AGAIN = { kind: 'failed', reason: 'unusable', detail: 'truncated' } as const;

/** `U` is the type of the upstream that is queried. */
export class Attempt<U extends WithHealth> implements Exchange {
  readonly upstream: U;
  /** Exchanges that the upstream adds, one for each address that is queried. */
  readonly exchanges: Exchange[] = [];
  /** Called when the attempt ends, for any reason. */
  onOver: (() => void) | null = null;
  /** Called when no reply has arrived in time: sends the query to another address, if there is one. */
  onSilence: (() => void) | null = null;
  /** Called at the timeout. */
  onTimeOut: (() => void) | null = null;
  private readonly clock: Clock;
  private readonly kind: AttemptKind;
  private readonly done: AttemptDone<U>;
  private readonly startedMs: number;
  private over = false;
  private hasExpired = false;

  constructor(upstream: U, clock: Clock, kind: AttemptKind, done: AttemptDone<U>) {
    this.upstream = upstream;
    this.clock = clock;
    this.kind = kind;
    this.done = done;
    this.startedMs = clock.monotonicMs();
  }

  get isOver(): boolean {
    return this.over;
  }

  get wasQueued(): boolean {
    return this.exchanges.some((exchange) => exchange.wasQueued);
  }

  resend(): void {
    for (const exchange of this.exchanges) exchange.resend();
    this.onSilence?.();
  }

  cancel(): void {
    if (!this.finish()) return;
    for (const exchange of this.exchanges) exchange.cancel();
  }

  /**
   * Called when the next server is queried: records a doubt against a server that has not answered since. `sinceMs`:
   * when the server was first queried, if there was an earlier attempt.
   */
  noteSilence(sinceMs = this.startedMs): void {
    const { health } = this.upstream;
    if (this.over || this.wasQueued || health.lastAnswerMs > sinceMs) return;
    health.recordSilence(this.clock.monotonicMs() - sinceMs);
  }

  /**
   * Handles the timeout: counts it against the server if the server had the full time; a late outcome is still
   * accepted.
   */
  expire(): void {
    if (this.over || this.hasExpired) return;
    if (this.wasQueued) {
      this.cancel();
      return;
    }
    this.onTimeOut?.();
    const { health } = this.upstream;
    this.countFailure();
    this.hasExpired = true;
    // The server has answered other questions since the start, so this question is slow, not the server.
    if (health.lastAnswerMs > this.startedMs) health.recordDoubt('timeout');
    else health.recordFault('timeout', this.clock.monotonicMs() - this.startedMs);
  }

  /** Handles the timeout, and accepts no later outcome. */
  timeOut(): void {
    this.expire();
    this.cancel();
  }

  /** Handles the outcome of an exchange, unless another exchange may still succeed. */
  end(outcome: ExchangeOutcome): void {
    if (!this.finish()) return;
    for (const exchange of this.exchanges) exchange.cancel();
    const { health } = this.upstream;
    if (outcome.kind !== 'answer') {
      this.fail(outcome.kind === 'failed' ? outcome : TRUNCATED_AGAIN);
      return;
    }
    this.noteLatency();
    if (isDefinitive(outcome.answer.rcode)) health.recordSuccess();
    else {
      this.countFailure();
      health.recordDoubt(rcodeName(outcome.answer.rcode));
    }
    this.done(this, outcome);
  }

  private fail({ reason, detail }: ExchangeOutcome & { kind: 'failed' }): void {
    const { health } = this.upstream;
    if (reason !== 'local') this.countFailure();
    if (reason === 'unusable') this.noteLatency();
    const isFault = reason === 'network' || reason === 'malformed';
    if (isFault && !this.hasExpired && this.kind !== 'repeated') health.recordFault(detail);
    else health.recordDoubt(detail);
    this.done(this, { kind: 'failed', reason });
  }

  private countFailure(): void {
    if (this.kind === 'live' && !this.hasExpired) this.upstream.health.failures++;
  }

  private noteLatency(): void {
    const nowMs = this.clock.monotonicMs();
    this.upstream.health.recordLatency(nowMs - this.startedMs, nowMs);
  }

  private finish(): boolean {
    if (this.over) return false;
    this.over = true;
    this.onOver?.();
    return true;
  }
}
