/**
 * One question to one server over UDP, from a place on a socket (`upstream-sockets.ts`) with an id from the CSPRNG (RFC
 * 5452 section 9). A datagram that is not a well-formed answer, or does not repeat the marks of the query, is dropped
 * and the wait continues: a forged response must not end the question.
 */
import { isBareRefusal, refusesEdns } from './edns-refusal.ts';
import type { Exchange, ExchangeDone, ExchangeOutcome } from './exchange.ts';
import { errorDetail, lossOf, outcomeOf } from './exchange.ts';
import { checkMarks, type MarksCheck } from '../capability/reply-marks.ts';
import type { Question } from '../response/question.ts';
import { encodeQuery, isResponseTo } from '../response/question.ts';
import type { QueryMarks } from '../response/query-marks.ts';
import type { ResponseFault } from '../response/cacheable-answer.ts';
import { readResponse } from '../response/response-reader.ts';
import type { DatagramReceiver, SocketPlace, UdpSockets } from './upstream-sockets.ts';

/** Handling of replies that do not end the question. */
export interface UdpChecks {
  /** Marks that the reply must repeat; null accepts replies that repeat the name in any letter case. */
  readonly marks: QueryMarks | null;
  readonly asker: UdpAsker;
}

/** Receives reports about replies. */
export interface UdpAsker {
  /** Called after a reply was dropped because it does not repeat the marks; the wait continues. */
  onDoubt(why: Exclude<MarksCheck, 'repeated'>): void;
  /** Called for a reply that repeats the marks. */
  onRepeated(message: Uint8Array, marks: QueryMarks): void;
  /** Called after a reply that repeats the marks was dropped because of its content; the wait continues. */
  onMalformed(): void;
  /**
   * Called if a reply reports an unreadable query and does not repeat the marks: this reply may be forged, so the wait
   * continues.
   */
  onBareRefusal(): void;
}

/** Sends the query over `sockets`; `edns` as in `QueryForm`. Without `checks` a bare refusal ends the question. */
export function exchangeUdp(
  sockets: UdpSockets,
  question: Question,
  edns: boolean,
  checks: UdpChecks | null,
  done: ExchangeDone,
): Exchange {
  return new UdpExchange(sockets, question, edns, checks, done);
}

/**
 * Faults of datagrams that anyone may have sent; RFC 7871 section 7.3 also requires dropping replies for other subnets.
 */
const DROPPED: ReadonlySet<ResponseFault> = new Set([
  'malformed',
  'malformed-data',
  'not-a-response-to-this',
  'other-ecs',
]);

class UdpExchange implements Exchange, DatagramReceiver {
  readonly wasQueued = false;
  private readonly question: Question;
  private readonly done: ExchangeDone;
  private readonly checks: UdpChecks | null;
  private readonly edns: boolean;
  private readonly place: SocketPlace;
  private readonly query: Buffer;
  private over = false;

  constructor(
    sockets: UdpSockets,
    question: Question,
    edns: boolean,
    checks: UdpChecks | null,
    done: ExchangeDone,
  ) {
    this.question = question;
    this.edns = edns;
    this.checks = checks;
    this.done = done;
    this.place = sockets.join(this);
    this.query = encodeQuery(question, this.place.id, { edns, marks: checks?.marks ?? null, padTo: 0 });
    this.place.send(this.query);
  }

  /** Sends the same datagram again: a second id would double an attacker's chances (RFC 5452 section 5). */
  resend(): void {
    if (!this.over) this.place.send(this.query);
  }

  cancel(): void {
    if (this.over) return;
    this.over = true;
    this.place.leave();
  }

  receive(message: Uint8Array): void {
    if (this.over) return;
    if (this.edns && isBareRefusal(message)) {
      if (this.checks === null) this.end({ kind: 'refused' });
      else this.checks.asker.onBareRefusal();
      return;
    }
    if (!isResponseTo(message, this.question) || !this.isProven(message)) return;
    const reading = readResponse(message, this.question);
    if (reading.kind === 'truncated') this.end(reading);
    else if (reading.kind === 'answer' || !DROPPED.has(reading.fault))
      this.end(outcomeOf(reading, this.edns));
    else if (reading.fault !== 'other-ecs') this.checks?.asker.onMalformed();
  }

  expose(): void {
    this.end({ kind: 'exposed' });
  }

  fail(error: Error): void {
    this.end(lossOf(errorDetail(error)));
  }

  private isProven(message: Uint8Array): boolean {
    if (this.checks === null || this.checks.marks === null) return true;
    const { marks, asker } = this.checks;
    const check = checkMarks(message, marks);
    if (check === 'repeated') asker.onRepeated(message, marks);
    else if (check === 'no cookie' && this.edns && refusesEdns(message)) asker.onBareRefusal();
    else asker.onDoubt(check);
    return check === 'repeated';
  }

  private end(outcome: ExchangeOutcome): void {
    if (this.over) return;
    this.cancel();
    this.done(outcome);
  }
}
