/**
 * One server address over UDP: a fresh exchange for each question, TCP where the answer was truncated or a
 * reply lacked its proof, once more without EDNS where the server does not know it, and once more with the
 * server's new cookie (RFC 7873 section 5.3).
 */
import type { Clock } from '../../../shared/clock.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import type {
  Exchange,
  ExchangeDone,
  ExchangeOutcome,
  ServerAddress,
  ServerConnections,
} from './exchange.ts';
import { StreamUpstream, TCP_STREAM } from './exchange-tcp.ts';
import { EdnsSupport } from './edns-support.ts';
import { type UdpAsker, exchangeUdp } from './exchange-udp.ts';
import type { Question } from '../response/question.ts';
import { ReplyProof } from './reply-proof.ts';
import { UdpSockets } from './upstream-sockets.ts';

/** Time-out of a question that tests the server's EDNS support, milliseconds. */
const SUSPICION_MS = 2000;

/** UDP exchanges with one address. */
export class UdpUpstream implements ServerConnections {
  private readonly ways: Ways;
  /** A question over TCP that tests the server's EDNS support, and its timer. */
  private suspicion: { readonly exchange: Exchange; readonly timer: NodeJS.Timeout } | null = null;

  constructor(server: ServerAddress, clock: Clock) {
    const edns = new EdnsSupport(clock);
    this.ways = {
      sockets: new UdpSockets(server),
      proof: new ReplyProof(clock),
      edns,
      tcp: new StreamUpstream(server, TCP_STREAM, clock, edns),
      onRefusal: (question) => this.suspect(question),
    };
  }

  get tcp(): ServerConnections {
    return this.ways.tcp;
  }

  ask(question: Question, done: ExchangeDone): Exchange {
    return new UdpAsk(this.ways, question, done);
  }

  close(): void {
    this.endSuspicion();
    this.ways.tcp.close();
  }

  /** One forged reply must not switch EDNS off for this server: verifies it over TCP in parallel. */
  private suspect(question: Question): void {
    const { edns, tcp } = this.ways;
    if (this.suspicion !== null || !edns.isSuspect) return;
    const exchange = tcp.ask(question, (outcome) => {
      this.endSuspicion();
      if (isLost(outcome)) edns.strike();
      else edns.noteClear();
    });
    const timer = setTimeout(() => {
      this.endSuspicion();
      edns.strike();
    }, SUSPICION_MS);
    this.suspicion = { exchange, timer };
  }

  private endSuspicion(): void {
    clearTimeout(this.suspicion?.timer);
    this.suspicion?.exchange.cancel();
    this.suspicion = null;
  }
}

interface Ways {
  readonly sockets: UdpSockets;
  readonly proof: ReplyProof;
  readonly edns: EdnsSupport;
  readonly tcp: StreamUpstream;
  /** The server, or a forged reply, refuses the question with EDNS. */
  onRefusal(question: Question): void;
}

class UdpAsk implements Exchange, UdpAsker {
  private readonly ways: Ways;
  private readonly question: Question;
  private readonly done: ExchangeDone;
  private readonly underWay = new Set<Exchange>();
  private askedPlain = false;
  private askedTcp = false;
  private triedCookie = false;

  constructor(ways: Ways, question: Question, done: ExchangeDone) {
    this.ways = ways;
    this.question = question;
    this.done = done;
    this.askUdp(ways.edns.isUsed);
  }

  get wasQueued(): boolean {
    return [...this.underWay].some((exchange) => exchange.wasQueued);
  }

  resend(): void {
    for (const exchange of this.underWay) exchange.resend();
  }

  cancel(): void {
    for (const exchange of this.underWay) exchange.cancel();
    this.underWay.clear();
  }

  onDoubt(): void {
    this.askTcp('doubtful');
  }

  onMalformed(): void {
    this.askTcp('malformed');
  }

  onBareRefusal(): void {
    this.askPlain();
  }

  private askUdp(edns: boolean): void {
    const { sockets, proof, edns: support } = this.ways;
    const marks = proof.marks(this.question.qname);
    const checks = { proof, marks, asker: this };
    this.add(
      (done) => exchangeUdp(sockets, this.question, edns, checks, done),
      (outcome) => {
        if (outcome.kind === 'answer' && outcome.hasEdns === true) support.noteSeen();
        if (outcome.kind === 'truncated') this.askTcp('truncated');
        else if (outcome.kind === 'refused') this.askPlain();
        else if (outcome.kind !== 'answer') this.settle(outcome);
        else if (outcome.answer.rcode === Rcode.BADCOOKIE) this.onBadCookie();
        else this.settle(outcome);
      },
    );
  }

  /** Asks without EDNS, once. */
  private askPlain(): void {
    if (this.askedPlain) return;
    this.askedPlain = true;
    this.ways.onRefusal(this.question);
    this.askUdp(false);
  }

  /** Without a proof: only where the server gave none and TCP was unavailable. */
  private askUnproven(edns = true): void {
    const { sockets } = this.ways;
    this.add(
      (done) => exchangeUdp(sockets, this.question, edns, null, done),
      (outcome) => {
        if (outcome.kind === 'refused') this.askUnproven(false);
        else this.settle(outcome);
      },
    );
  }

  /**
   * Asks over TCP, which third parties cannot forge; `why` is the doubtful reply over UDP. The wait over UDP continues
   * until TCP confirms that reply.
   */
  private askTcp(why: 'truncated' | 'bad cookie' | 'doubtful' | 'malformed'): void {
    if (this.askedTcp) return;
    this.askedTcp = true;
    const { proof, tcp } = this.ways;
    const marks = proof.marks(this.question.qname);
    const witness = { marks, witness: (message: Uint8Array) => proof.witness(message, marks) };
    this.add(
      (done) => tcp.ask(this.question, done, witness),
      (outcome) => {
        if (!isLost(outcome)) this.finish(outcome);
        else if (why === 'doubtful') {
          proof.strike();
          this.askUnproven();
        } else this.settle(outcome);
      },
    );
  }

  private onBadCookie(): void {
    if (this.triedCookie) this.askTcp('bad cookie');
    else this.askUdp(true);
    this.triedCookie = true;
  }

  private add(start: (done: ExchangeDone) => Exchange, done: ExchangeDone): void {
    const exchange = start((outcome) => {
      this.underWay.delete(exchange);
      done(outcome);
    });
    this.underWay.add(exchange);
  }

  /** An answer ends the exchange; a failure only if nothing else is in flight. */
  private settle(outcome: ExchangeOutcome): void {
    if (outcome.kind === 'answer' || this.underWay.size === 0) this.finish(outcome);
  }

  private finish(outcome: ExchangeOutcome): void {
    this.cancel();
    this.done(outcome);
  }
}

function isLost(outcome: ExchangeOutcome): boolean {
  return outcome.kind === 'failed' && (outcome.reason === 'network' || outcome.reason === 'local');
}
