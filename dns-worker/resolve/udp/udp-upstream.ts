/**
 * One server address over UDP: its sockets, its connections, its capability record, and its questions
 * (`udp-question.ts`).
 */
import type { Clock } from '../../../shared/clock.ts';
import type { Hardening } from '../capability/hardening.ts';
import type { Question } from '../response/question.ts';
import { BriefTcp } from './brief-tcp.ts';
import { CapabilityProber } from './capability-prober.ts';
import { EdnsSupport } from '../transport/edns-support.ts';
import {
  type Exchange,
  type ExchangeDone,
  isLost,
  type ServerAddress,
  type ServerConnections,
} from '../transport/exchange.ts';
import { StreamUpstream, TCP_STREAM } from '../transport/exchange-tcp.ts';
import { DoubtfulQuestions } from './doubtful-questions.ts';
import { type UdpWays, UdpQuestion } from './udp-question.ts';
import { UdpSockets } from '../transport/upstream-sockets.ts';

/** Timeout of a query that tests the server's EDNS support, in milliseconds. */
const SUSPICION_MS = 2000;

/** Parts of an upstream over UDP. */
export interface UdpParts {
  readonly hardening: Hardening;
  /** Question of capability probes: the server must answer it with NOERROR. */
  readonly probe: Question;
  readonly clock: Clock;
}

/** UDP exchanges with one address. */
export class UdpUpstream implements ServerConnections {
  private readonly ways: UdpWays;
  /** A query over TCP that tests the server's EDNS support, and its timer. */
  private suspicion: { readonly exchange: Exchange; readonly timer: NodeJS.Timeout } | null = null;

  constructor(server: ServerAddress, { hardening, probe, clock }: UdpParts) {
    const edns = new EdnsSupport(hardening.record);
    const sockets = new UdpSockets(server);
    const tcp = new StreamUpstream(server, TCP_STREAM, clock, edns);
    const prober = new CapabilityProber({
      sockets,
      hardening,
      clock,
      usesEdns: () => edns.isUsed,
      askTcp: (question, done) => tcp.ask(question, done),
      question: probe,
    });
    this.ways = {
      sockets,
      hardening,
      edns,
      tcp,
      prober,
      clock,
      doubtful: new DoubtfulQuestions(),
      brief: new BriefTcp(tcp, hardening.record),
      onRefusal: (question) => this.suspect(question),
    };
  }

  get tcp(): ServerConnections {
    return this.ways.tcp;
  }

  ask(question: Question, done: ExchangeDone): Exchange {
    this.keepUp();
    return new UdpQuestion(this.ways, question, done);
  }

  keepUp(): void {
    this.ways.prober.check();
  }

  close(): void {
    this.endSuspicion();
    this.ways.doubtful.close();
    this.ways.prober.close();
    this.ways.tcp.close();
  }

  /** Verifies a refusal of EDNS over TCP in parallel: a forged reply must not disable EDNS for this server. */
  private suspect(question: Question): void {
    const { edns, tcp, hardening } = this.ways;
    if (this.suspicion !== null || !edns.isSuspect) return;
    const exchange = tcp.ask(question, (outcome) => {
      this.endSuspicion();
      if (isLost(outcome)) edns.strike();
      else {
        hardening.record.note('tcp', 'supported');
        edns.noteClear();
      }
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
