/** One query that finds out whether a server handles a feature, and the finding that its reply leads to. */
import { Rcode } from '../../../shared/dns/iana.ts';
import type { Finding } from '../../../shared/policy/hardening-settings.ts';
import type { HardeningFeature } from '../capability/capability-record.ts';
import type { Hardening } from '../capability/hardening.ts';
import { type MarksCheck, serverCookieIn } from '../capability/reply-marks.ts';
import type { Question } from '../response/question.ts';
import { type Exchange, isLost } from '../transport/exchange.ts';
import { exchangeUdp } from '../transport/exchange-udp.ts';
import type { UdpSockets } from '../transport/upstream-sockets.ts';

/** The outcome of a probe within its time. */
export interface ProbeReply {
  /** Rcode of the reply that repeats the marks; null = there was none. */
  readonly rcode: number | null;
  /** Reason why a reply was dropped; null = none was. */
  readonly doubt: Exclude<MarksCheck, 'repeated'> | null;
  /** The reply has a cookie of the server's. */
  readonly hasCookie: boolean;
  /** Someone guessed ids on its ports, and no reply came: it shows nothing. */
  readonly isDisturbed: boolean;
}

/** Times that a probe moves to another port. */
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

  /** Asks with one feature, or plainly; `done` is called once, unless `cancel` is. */
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
        // Its port was closed: what third parties send decides nothing.
        if (outcome.kind === 'exposed' && ++this.moves <= MAX_MOVES) this.exchange = ask();
        else if (outcome.kind === 'answer') this.end(outcome.answer.rcode);
        else if (outcome.kind === 'truncated') this.end(Rcode.NOERROR);
        else if (outcome.kind === 'refused') this.end(Rcode.FORMERR);
        // An unusable answer is one all the same.
        else this.end(outcome.kind === 'failed' && !isLost(outcome) ? Rcode.NOERROR : null);
      });
    this.exchange = ask();
  }

  /** Waits no longer than so many milliseconds from now. */
  hurry(limitMs: number): void {
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

/** Whether a plain reply is an answer, so that one with a feature can be compared with it. */
export function isAnswered({ rcode }: ProbeReply): boolean {
  return rcode === Rcode.NOERROR || rcode === Rcode.NXDOMAIN;
}

/** The finding of a reply to a query with a feature; `expected` is the response code of the plain one. */
export function findingOf(feature: HardeningFeature, reply: ProbeReply, expected: number): Finding {
  if (reply.rcode === null) {
    if (reply.doubt === null) return 'silent';
    return reply.doubt === 'no cookie' ? 'unsupported' : 'altered';
  }
  if (reply.rcode !== expected) return 'refused';
  return feature === 'cookies' && !reply.hasCookie ? 'unsupported' : 'supported';
}
