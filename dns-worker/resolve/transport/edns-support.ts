/**
 * Whether one server supports EDNS. A server that does not answers FORMERR or NOTIMP without an OPT record (RFC 6891
 * section 7), and is asked again without. That is remembered only if proven: over a connection, which third parties
 * cannot forge, the server refused the question with EDNS and answered it without; or eight questions in a row did so
 * while no connection was possible. A server that recently sent an OPT record is never assumed to lack EDNS.
 */
import type { CapabilityRecord } from '../capability/capability-record.ts';
import { isRefusal } from './edns-refusal.ts';
import type { Exchange, ExchangeDone, ExchangeOutcome } from './exchange.ts';

/** Lifetime of a result, seconds. */
const BELIEVED_SECS = 3600;
/** A server that turned out to know EDNS is not suspected again for this long, seconds. */
const UNSUSPECTED_SECS = 60;
const MAX_REFUSALS = 8;

/** EDNS findings about one server address; kept in its record. */
export class EdnsSupport {
  readonly record: CapabilityRecord;

  constructor(record: CapabilityRecord) {
    this.record = record;
  }

  /** Whether questions carry an OPT record. */
  get isUsed(): boolean {
    return this.record.finding('edns') !== 'unsupported';
  }

  /** Whether to find out over a connection what a refusal over UDP is worth. */
  get isSuspect(): boolean {
    return this.isUsed && !this.record.isEdnsClear;
  }

  /** The server has sent an OPT record. */
  noteSeen(): void {
    this.record.noteEdns();
  }

  /** Records a verdict: either `noteLacking` was called, or the server supports EDNS. */
  noteClear(): void {
    this.record.clearEdns(UNSUSPECTED_SECS);
  }

  /** Records that no verdict was possible. */
  strike(): void {
    if (this.record.countEdnsRefusal() < MAX_REFUSALS) return;
    this.record.resetEdnsRefusals();
    this.noteLacking();
  }

  /** The server has refused a question with EDNS and answered it without. */
  noteLacking(): void {
    if (this.record.ednsSeenAgoSecs >= BELIEVED_SECS) this.record.note('edns', 'unsupported');
  }
}

/** Asks once, with an OPT record or without. */
type StartExchange = (edns: boolean, done: ExchangeDone) => Exchange;

/**
 * Asks over a connection by `start`, with EDNS unless the server is known not to know it, and again without if the
 * server refuses that.
 */
export class EdnsExchange implements Exchange {
  private readonly support: EdnsSupport;
  private readonly start: StartExchange;
  private readonly done: ExchangeDone;
  private current: Exchange;

  constructor(support: EdnsSupport, start: StartExchange, done: ExchangeDone) {
    this.support = support;
    this.start = start;
    this.done = done;
    this.current = start(support.isUsed, (outcome) => this.take(outcome));
  }

  get wasQueued(): boolean {
    return this.current.wasQueued;
  }

  resend(): void {
    this.current.resend();
  }

  cancel(): void {
    this.current.cancel();
  }

  private take(outcome: ExchangeOutcome): void {
    if (outcome.kind === 'answer' && outcome.hasEdns === true) this.support.noteSeen();
    if (outcome.kind === 'refused') this.current = this.start(false, (plain) => this.takePlain(plain));
    else this.done(outcome);
  }

  private takePlain(outcome: ExchangeOutcome): void {
    if (outcome.kind === 'answer' && !isRefusal(outcome.answer.rcode)) this.support.noteLacking();
    this.done(outcome);
  }
}
