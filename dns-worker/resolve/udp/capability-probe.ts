/** One query that tests whether a server supports a feature, and the resulting finding. */
import { Rcode } from '../../../shared/dns/iana.ts';
import type { Finding } from '../../../shared/policy/hardening-settings.ts';
import type { HardeningFeature } from '../capability/capability-record.ts';
import type { Hardening } from '../capability/hardening.ts';
import { type MarksCheck, serverCookieIn } from '../capability/reply-marks.ts';
import type { Question } from '../response/question.ts';
import { type Exchange, isLost } from '../transport/exchange.ts';
import { exchangeUdp } from '../transport/exchange-udp.ts';
import type { UdpSockets } from '../transport/upstream-sockets.ts';

/** The outcome of a probe within its time limit. */
export interface ProbeReply {
  /** Rcode of the reply that repeats the marks; null = no such reply. */
  readonly rcode: number | null;
  /** Reason why a reply was dropped; null = none was dropped. */
  readonly doubt: Exclude<MarksCheck, 'repeated'> | null;
  /** Whether the reply contains a server cookie. */
  readonly hasCookie: boolean;
  /** Whether a third party guessed ids on the probe's ports and no reply arrived, so that the probe has no result. */
  readonly isDisturbed: boolean;
}

/** Maximum number of times that a probe changes its port. */
const MAX_MOVES = 16;

export interface ProbeParts {
  readonly sockets: UdpSockets;
  readonly hardening: Hardening;
  /** Whether queries to the server carry an OPT record. */
  usesEdns(): boolean;
}

/** A probe in flight. */
export class CapabilityProbe {
  private exchange: Exchange;
  private readonly done: (reply: ProbeReply) => void;
  private timer: NodeJS.Timeout;
  private doubt: ProbeReply['doubt'] = null;
  private hasCookie = false;
  private moves = 0;
  private isOver = false;

  /** Sends the query with one feature, or a plain query; `done` is called once, unless `cancel` is called first. */
  constructor(
    parts: ProbeParts,
    question: Question,
    feature: HardeningFeature | null,
    limitMs: number,
    done: (reply: ProbeReply) => void,
  ) {
    const { hardening, sockets } = parts;
    this.done = done;
    const marks = feature === null ? null : hardening.marksOf(feature, question.qname);
    const asker = {
      onDoubt: (why: Exclude<MarksCheck, 'repeated'>) => void (this.doubt = why),
      onRepeated: (message: Uint8Array) => {
        if (marks === null) return;
        this.hasCookie = serverCookieIn(message, marks) !== null;
        hardening.learn(message, marks);
      },
      onMalformed: () => undefined,
      onBareRefusal: () => this.end(Rcode.FORMERR),
    };
    this.timer = setTimeout(() => this.end(null), limitMs);
    const ask = (): Exchange =>
      exchangeUdp(sockets, question, parts.usesEdns(), { marks, asker }, (outcome) => {
        // The port was closed, because packets of third parties must not affect the result: probe from another port.
        if (outcome.kind === 'exposed' && ++this.moves <= MAX_MOVES) this.exchange = ask();
        else if (outcome.kind === 'answer') this.end(outcome.answer.rcode);
        else if (outcome.kind === 'truncated') this.end(Rcode.NOERROR);
        else if (outcome.kind === 'refused') this.end(Rcode.FORMERR);
        // An unusable answer also counts as an answer.
        else this.end(outcome.kind === 'failed' && !isLost(outcome) ? Rcode.NOERROR : null);
      });
    this.exchange = ask();
  }

  /** Waits at most this many milliseconds from now. */
  expedite(limitMs: number): void {
    if (this.isOver) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.end(null), limitMs);
  }

  cancel(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.exchange.cancel();
  }

  private end(rcode: number | null): void {
    if (this.isOver) return;
    this.cancel();
    const { doubt, hasCookie, moves } = this;
    this.done({ rcode, doubt, hasCookie, isDisturbed: rcode === null && moves > 0 });
  }
}

/** Whether the plain query got an answer with which the reply to a query with a feature can be compared. */
export function isAnswered({ rcode }: ProbeReply): boolean {
  return rcode === Rcode.NOERROR || rcode === Rcode.NXDOMAIN;
}

/** The finding from a reply to a query with a feature; `expected` is the response code of the plain reply. */
export function findingOf(feature: HardeningFeature, reply: ProbeReply, expected: number): Finding {
  if (reply.rcode === null) {
    if (reply.doubt === null) return 'silent';
    return reply.doubt === 'no cookie' ? 'unsupported' : 'altered';
  }
  if (reply.rcode !== expected) return 'refused';
  return feature === 'cookies' && !reply.hasCookie ? 'unsupported' : 'supported';
}
