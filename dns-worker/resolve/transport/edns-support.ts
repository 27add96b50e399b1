/**
 * Whether one server supports EDNS. A server without support answers FORMERR or NOTIMP without an OPT record (RFC 6891
 * section 7), and gets the query again without EDNS. The finding is stored only if it is proven: over a connection,
 * which third parties cannot forge, the server refused the query with EDNS and answered it without; or it refused EDNS
 * eight times in a row while no connection was possible. A server that recently sent OPT is known to support EDNS.
 */
import type { CapabilityRecord } from '../capability/capability-record.ts';
import { isRefusal } from './edns-refusal.ts';
import type { Exchange, ExchangeDone, ExchangeOutcome } from './exchange.ts';

/** Lifetime of a finding, in seconds. */
const BELIEVED_SECS = 3600;
/** Seconds for which a server that was found to support EDNS is not suspected again. */
const UNSUSPECTED_SECS = 60;
const MAX_REFUSALS = 8;

/** EDNS findings about one server address; stored in its record. */
export class EdnsSupport {
  readonly record: CapabilityRecord;

  constructor(record: CapabilityRecord) {
    this.record = record;
  }

  /** Whether queries are sent with an OPT record. */
  get isUsed(): boolean {
    return this.record.finding('edns') !== 'unsupported';
  }

  /** Whether a refusal over UDP should be verified over a connection. */
  get isSuspect(): boolean {
    return this.isUsed && !this.record.isEdnsClear;
  }

  /** Records that the server has sent an OPT record. */
  noteSeen(): void {
    this.record.noteEdns();
  }

  /** Records a verdict: the server supports EDNS, or `noteLacking` was called. */
  noteClear(): void {
    this.record.clearEdns(UNSUSPECTED_SECS);
  }

  /** Records that no verdict was possible. */
  strike(): void {
    if (this.record.countEdnsRefusal() < MAX_REFUSALS) return;
    this.record.resetEdnsRefusals();
    this.noteLacking();
  }

  /** Records that the server has refused a query with EDNS and answered it without EDNS. */
  noteLacking(): void {
    if (this.record.ednsSeenAgoSecs >= BELIEVED_SECS) this.record.note('edns', 'unsupported');
  }
}

/** Function that sends the query once, with an OPT record or without. */
type StartExchange = (edns: boolean, done: ExchangeDone) => Exchange;

/**
 * Sends a query over a connection with `start`, with EDNS unless the server is known to lack it, and again without EDNS
 * if the server refuses it.
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
    this.current = start(support.isUsed, (outcome) => this.handle(outcome));
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

  private handle(outcome: ExchangeOutcome): void {
    if (outcome.kind === 'answer' && outcome.hasEdns === true) this.support.noteSeen();
    if (outcome.kind === 'refused') this.current = this.start(false, (plain) => this.takePlain(plain));
    else this.done(outcome);
  }

  private takePlain(outcome: ExchangeOutcome): void {
    if (outcome.kind === 'answer' && !isRefusal(outcome.answer.rcode)) this.support.noteLacking();
    this.done(outcome);
  }
}
