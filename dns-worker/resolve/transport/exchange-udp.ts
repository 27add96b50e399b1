/**
 * One question to one server over UDP, from a place on a socket (`udp-sockets.ts`) with an id from the CSPRNG (RFC 5452
 * section 9). A datagram that is not the well-formed answer, or that lacks the proof (`reply-proof.ts`), is dropped and
 * the wait continues: a forged response must not end the question.
 */
import { isBareRefusal } from './edns-refusal.ts';
import type { Exchange, ExchangeDone, ExchangeOutcome } from './exchange.ts';
import { errorDetail, lossOf, outcomeOf } from './exchange.ts';
import type { Question } from '../response/question.ts';
import { encodeQuery, isResponseTo } from '../response/question.ts';
import type { QueryMarks } from '../response/query-marks.ts';
import type { ResponseFault } from '../response/cacheable-answer.ts';
import type { ReplyProof } from './reply-proof.ts';
import { readResponse } from '../response/response-reader.ts';
import type { DatagramReceiver, SocketPlace, UdpSockets } from './upstream-sockets.ts';

/** What a reply must prove beyond port and id. */
export interface UdpProof {
  readonly proof: ReplyProof;
  readonly marks: QueryMarks;
  readonly asker: UdpAsker;
}

/** Callbacks for dropped replies; the wait continues. */
export interface UdpAsker {
  /** Called once, at the first reply that only lacks the proof; it was dropped, the wait continues. */
  onDoubt(): void;
  /** Called when a reply with its proof was dropped for its content. */
  onMalformed(): void;
  /** Called when a server reports an unreadable query without repeating it: no proof. */
  onBareRefusal(): void;
}

/** Asks over `sockets`; `edns` as in `QueryForm`; `proof` null takes replies that repeat the name in any case. */
export function exchangeUdp(
  sockets: UdpSockets,
  question: Question,
  edns: boolean,
  proof: UdpProof | null,
  done: ExchangeDone,
): Exchange {
  return new UdpExchange(sockets, question, edns, proof, done);
}

/** Faults of datagrams that anybody may have sent; RFC 7871 section 7.3 drops replies for other subnets, too. */
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
  private readonly proof: UdpProof | null;
  private readonly edns: boolean;
  private readonly place: SocketPlace;
  private readonly query: Buffer;
  private doubted = false;
  private over = false;

  constructor(
    sockets: UdpSockets,
    question: Question,
    edns: boolean,
    proof: UdpProof | null,
    done: ExchangeDone,
  ) {
    this.question = question;
    this.edns = edns;
    this.proof = proof;
    this.done = done;
    this.place = sockets.join(this);
    this.query = encodeQuery(question, this.place.id, { edns, marks: proof?.marks ?? null, padTo: 0 });
    this.place.send(this.query);
  }

  /** The same datagram again: a second id would double a guesser's chances (RFC 5452 section 5). */
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
      if (this.proof === null) this.end({ kind: 'refused' });
      else this.proof.asker.onBareRefusal();
      return;
    }
    if (!isResponseTo(message, this.question) || !this.isProven(message)) return;
    const reading = readResponse(message, this.question);
    if (reading.kind === 'truncated') this.end(reading);
    else if (reading.kind === 'answer' || !DROPPED.has(reading.fault))
      this.end(outcomeOf(reading, this.edns));
    else if (reading.fault !== 'other-ecs') this.proof?.asker.onMalformed();
  }

  fail(error: Error): void {
    this.end(lossOf(errorDetail(error)));
  }

  private isProven(message: Uint8Array): boolean {
    if (this.proof === null) return true;
    const result = this.proof.proof.check(message, this.proof.marks);
    if (result === 'doubtful' && !this.doubted) {
      this.doubted = true;
      this.proof.asker.onDoubt();
    }
    return result === 'proven';
  }

  private end(outcome: ExchangeOutcome): void {
    if (this.over) return;
    this.cancel();
    this.done(outcome);
  }
}
