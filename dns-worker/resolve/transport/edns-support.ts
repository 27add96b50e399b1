/**
 * Whether one server supports EDNS. A server that does not answers FORMERR or NOTIMP without an OPT record (RFC 6891
 * section 7), and is asked again without. That is remembered only if proven: over a connection, which third parties
 * cannot forge, the server refused the question with EDNS and answered it without; or eight questions in a row did so
 * while no connection was possible. A server that recently sent an OPT record is never assumed to lack EDNS.
 */
import type { Clock } from '../../../shared/clock.ts';
import { isRefusal } from './edns-refusal.ts';
import type { Exchange, ExchangeDone } from './exchange.ts';

/** Lifetime of a result, milliseconds. */
const BELIEVED_MS = 3_600_000;
/** A server that turned out to know EDNS is not suspected again for this long, milliseconds. */
const UNSUSPECTED_MS = 60_000;
const MAX_STRIKES = 8;

/** What is known of one server address. */
export class EdnsSupport {
  private readonly clock: Clock;
  private offUntilMs = -Infinity;
  private seenMs = -Infinity;
  private unsuspectedUntilMs = -Infinity;
  private strikes = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whether questions carry an OPT record. */
  get isUsed(): boolean {
    return this.clock.monotonicMs() >= this.offUntilMs;
  }

  /** Whether it is to be found out over a connection what a refusal over UDP is worth. */
  get isSuspect(): boolean {
    return this.isUsed && this.clock.monotonicMs() >= this.unsuspectedUntilMs;
  }

  /** The server has sent an OPT record. */
  noteSeen(): void {
    this.seenMs = this.clock.monotonicMs();
    this.strikes = 0;
  }

  /** It was found out: either `noteLacking` was called meanwhile, or the server knows EDNS. */
  noteClear(): void {
    this.unsuspectedUntilMs = this.clock.monotonicMs() + UNSUSPECTED_MS;
    this.strikes = 0;
  }

  /** It could not be found out. */
  strike(): void {
    if (++this.strikes < MAX_STRIKES) return;
    this.strikes = 0;
    this.noteLacking();
  }

  /** The server has refused a question with EDNS and answered it without. */
  noteLacking(): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.seenMs >= BELIEVED_MS) this.offUntilMs = nowMs + BELIEVED_MS;
  }
}

/**
 * Asks over a connection by `start`, with EDNS unless the server is known not to know it, and again without where the
 * server refuses that.
 */
export function askOverConnection(
  support: EdnsSupport,
  start: (edns: boolean, done: ExchangeDone) => Exchange,
  done: ExchangeDone,
): Exchange {
  let current = start(support.isUsed, (outcome) => {
    if (outcome.kind === 'answer' && outcome.hasEdns === true) support.noteSeen();
    if (outcome.kind !== 'refused') {
      done(outcome);
      return;
    }
    current = start(false, (plain) => {
      if (plain.kind === 'answer' && !isRefusal(plain.answer.rcode)) support.noteLacking();
      done(plain);
    });
  });
  return {
    get wasQueued() {
      return current.wasQueued;
    },
    resend: () => current.resend(),
    cancel: () => current.cancel(),
  };
}
