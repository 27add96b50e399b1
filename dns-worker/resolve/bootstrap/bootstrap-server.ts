/**
 * One bootstrap server, which is queried for the addresses of a host in one family: over UDP, over TCP if the answer
 * does not fit a datagram, without EDNS if the server refuses EDNS, and again for the target of an alias if the server
 * omits the target.
 */
import type { Clock } from '../../../shared/clock.ts';
import { RRClass, RRType, Rcode } from '../../../shared/dns/iana.ts';
import { readU16 } from '../../../shared/dns/wire.ts';
import type { CacheableAnswer } from '../response/cacheable-answer.ts';
import { eachAnswerRecord } from '../response/each-record.ts';
import type { Question } from '../response/question.ts';
import type { Exchange, ExchangeDone, ExchangeOutcome, ServerAddress } from '../transport/exchange.ts';
import { StreamUpstream, TCP_STREAM } from '../transport/exchange-tcp.ts';
import { exchangeUdp } from '../transport/exchange-udp.ts';
import { canonicalIp } from '../transport/server-address.ts';
import { UdpSockets } from '../transport/upstream-sockets.ts';

/** An address of a host; `ip` is canonical. */
export interface HostAddress {
  readonly ip: string;
  readonly family: 4 | 6;
}

/** An address with the TTL of its record. */
export interface FoundAddress {
  readonly address: HostAddress;
  readonly ttlSecs: number;
}

/** Time limit of each query. */
const QUERY_TIMEOUT_MS = 1000;
/** Maximum number of queries per host and family: for the host, and for the targets of aliases. */
const MAX_QUESTIONS = 8;

/** Queries one server. */
export class BootstrapServer {
  private readonly address: ServerAddress;
  private readonly tcp: StreamUpstream;
  private readonly underWay = new Set<() => void>();

  constructor(address: ServerAddress, clock: Clock) {
    this.address = address;
    this.tcp = new StreamUpstream(address, TCP_STREAM, clock);
  }

  /** Finds the addresses of a host (lower-case wire form) with A or AAAA queries; empty without a usable answer. */
  async find(host: Uint8Array, qtype: number): Promise<readonly FoundAddress[]> {
    let qname = host;
    for (let questions = 0; questions < MAX_QUESTIONS; questions++) {
      const flags = { dnssecOk: false, checkingDisabled: false };
      const answer = await this.ask({ qname, qtype, qclass: RRClass.IN, ecs: null, ...flags });
      if (answer === null || answer.rcode !== Rcode.NOERROR) return [];
      const found = addressesIn(answer, qtype);
      if (found.length > 0 || answer.leftOut === undefined) return found;
      qname = answer.leftOut.target;
    }
    return [];
  }

  /** Cancels queries in flight, so that they find nothing. */
  close(): void {
    for (const abort of [...this.underWay]) abort();
    this.tcp.close();
  }

  private async ask(question: Question): Promise<CacheableAnswer | null> {
    let outcome = await this.exchange((done) => this.overUdp(question, true, done));
    if (outcome?.kind === 'refused')
      outcome = await this.exchange((done) => this.overUdp(question, false, done));
    // Query over TCP, so that a third party that guesses ids does not end the lookup.
    if (outcome?.kind === 'truncated' || outcome?.kind === 'exposed')
      outcome = await this.exchange((done) => this.tcp.ask(question, done));
    return outcome?.kind === 'answer' ? outcome.answer : null;
  }

  private overUdp(question: Question, edns: boolean, done: ExchangeDone): Exchange {
    return exchangeUdp(new UdpSockets(this.address), question, edns, null, done);
  }

  /** The outcome of an exchange; null after the time limit, or if it was cancelled. */
  private exchange(start: (done: ExchangeDone) => Exchange): Promise<ExchangeOutcome | null> {
    return new Promise((resolve) => {
      const end = (outcome: ExchangeOutcome | null): void => {
        clearTimeout(timer);
        exchange.cancel();
        this.underWay.delete(abort);
        resolve(outcome);
      };
      const abort = (): void => end(null);
      const exchange = start(end);
      const timer = setTimeout(abort, QUERY_TIMEOUT_MS);
      this.underWay.add(abort);
    });
  }
}

/** The address records of an answer, at any owner: the CNAME chain may end anywhere. */
function addressesIn(answer: CacheableAnswer, qtype: number): FoundAddress[] {
  const found: FoundAddress[] = [];
  for (const { type, ttlSecs, rdata } of eachAnswerRecord(answer))
    if (type === qtype) found.push({ address: toAddress(qtype, rdata), ttlSecs });
  return found;
}

function toAddress(qtype: number, rdata: Uint8Array): HostAddress {
  if (qtype === RRType.A) return { ip: rdata.join('.'), family: 4 };
  const groups = Array.from({ length: 8 }, (_, i) => readU16(rdata, 2 * i).toString(16));
  return { ip: canonicalIp(groups.join(':')), family: 6 };
}
