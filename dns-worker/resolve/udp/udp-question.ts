/**
 * One question to one server over UDP, from the first query to the outcome: over TCP if the answer was truncated; again
 * without EDNS if the server does not support EDNS; again with the server's new cookie (RFC 7873 section 5.3). If a
 * hardened query fails or gets a doubtful reply, probes are started, and the question is repeated over TCP, which third
 * parties cannot forge, or unchanged, until the probes have shown whether the server supports the feature. If the
 * server does not support the feature, the question is sent again without it.
 */
import type { Clock } from '../../../shared/clock.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { PAIR_INTERVAL_MS, type HardeningFeature } from '../capability/capability-record.ts';
import type { Hardening, UsedMarks } from '../capability/hardening.ts';
import type { MarksCheck } from '../capability/reply-marks.ts';
import type { QueryMarks } from '../response/query-marks.ts';
import type { Question } from '../response/question.ts';
import type { BriefTcp } from './brief-tcp.ts';
import type { CapabilityProber } from './capability-prober.ts';
import type { DoubtfulQuestions } from './doubtful-questions.ts';
import type { EdnsSupport } from '../transport/edns-support.ts';
import { type Exchange, type ExchangeDone, type ExchangeOutcome, isLost } from '../transport/exchange.ts';
import type { StreamUpstream } from '../transport/exchange-tcp.ts';
import { type UdpAsker, exchangeUdp } from '../transport/exchange-udp.ts';
import type { UdpSockets } from '../transport/upstream-sockets.ts';

/** Maximum time for which a reply waits for the result of probes, in milliseconds. */
const HOLD_MS = 2000;
/**
 * Maximum number of times that a question is repeated from another port because its reply was doubtful and TCP cannot
 * confirm the reply. Another port may reach another server: only some of the servers behind an address may support a
 * feature.
 */
const MAX_REPEATS = 4;
/** Maximum number of times that a question moves to another port. */
const MAX_MOVES = 16;

/** Objects that all questions to one server use. */
export interface UdpWays {
  readonly sockets: UdpSockets;
  readonly hardening: Hardening;
  readonly edns: EdnsSupport;
  readonly tcp: StreamUpstream;
  readonly brief: BriefTcp;
  readonly prober: CapabilityProber;
  readonly doubtful: DoubtfulQuestions;
  readonly clock: Clock;
  /** Called if the server, or a forged reply, has refused the question with EDNS. */
  onRefusal(question: Question): void;
}

/** A reply that waits until it is known whether the server supports the features of the query. */
interface HeldReply {
  readonly outcome: ExchangeOutcome;
  readonly sinceMs: number;
}

/** Called if the server, or a forged reply, has refused the query with EDNS. */
export class UdpQuestion implements Exchange, UdpAsker {
  private readonly ways: UdpWays;
  private readonly question: Question;
  private readonly done: ExchangeDone;
  /** Exchanges in flight: almost always one, so an array costs less than a set. */
  private readonly underWay: Exchange[] = [];
  /** The UDP query that waits for its reply, and its marks. */
  private udp: Exchange | null = null;
  private marks: UsedMarks | null = null;
  /** Features that may be the reason why the question fails. */
  private suspects: readonly HardeningFeature[] = [];
  private held: HeldReply | null = null;
  /** The exchange over TCP with a short time limit. */
  private brief: Exchange | null = null;
  private askedPlain = false;
  private askedTcp = false;
  private hasConfirmed = false;
  /** Whether the server has replied, even with a doubtful reply. */
  private hasReplied = false;
  private triedCookie = false;
  /** Whether the question was sent over TCP because of guessed ids, which happens at most once. */
  private soughtRefuge = false;
  private moves = 0;
  private repeats = 0;
  private resends = 0;

  constructor(ways: UdpWays, question: Question, done: ExchangeDone) {
    this.ways = ways;
    this.question = question;
    this.done = done;
    const before = question.firstTry?.outcome;
    if (before === 'exposed') this.move(ways.edns.isUsed);
    else if (before === 'truncated') this.askTcp();
    else this.askUdp(ways.edns.isUsed);
    // While the probes run, the question is also sent over TCP if the server's TCP works, so that further questions are
    // not delayed.
    const { record } = ways.hardening;
    const struck = this.marks?.features.filter((feature) => record.isStruck(feature)) ?? [];
    if (struck.length === 0 || record.finding('tcp') !== 'supported') return;
    this.suspect(struck);
    this.confirm();
  }

  get wasQueued(): boolean {
    return this.underWay.some((exchange) => exchange.wasQueued);
  }

  resend(): void {
    for (const exchange of this.underWay) exchange.resend();
    // The server may be silent because of the features of the query.
    if (this.udp === null || this.marks === null) return;
    this.suspect(this.marks.features);
    if (++this.resends > 1) this.confirmOrRepeat();
  }

  cancel(): void {
    this.ways.doubtful.remove(this);
    for (const exchange of this.underWay) exchange.cancel();
    this.underWay.length = 0;
  }

  onDoubt(why: Exclude<MarksCheck, 'repeated'>): void {
    this.hasReplied = true;
    this.suspect([why === 'changed case' ? 'case' : 'cookies']);
    this.confirmOrRepeat();
  }

  onRepeated(message: Uint8Array, marks: QueryMarks): void {
    this.ways.hardening.learn(message, marks);
  }

  onMalformed(): void {
    this.askTcp();
  }

  onBareRefusal(): void {
    this.askPlain();
  }

  /** Checks whether the probes have a finding now. */
  check(): void {
    const { hardening, prober } = this.ways;
    const { record } = hardening;
    if (this.marks?.features.some((feature) => !hardening.isUsed(feature)) === true) {
      this.askAgain();
      return;
    }
    const { held } = this;
    const isLate = held !== null && this.ways.clock.monotonicMs() - held.sinceMs >= HOLD_MS;
    if (held !== null && (isLate || (this.underWay.length === 0 && this.isCleared(held)))) {
      this.held = null;
      this.settle(held.outcome);
      return;
    }
    if (this.suspects.some((feature) => record.isStruck(feature))) this.confirm();
    prober.suspect(this.suspects);
  }

  private askUdp(edns: boolean): void {
    const { sockets, hardening, edns: support } = this.ways;
    const marks = hardening.marks(this.question.qname, edns);
    this.marks = marks;
    this.udp = this.add(
      (done) => exchangeUdp(sockets, this.question, edns, { marks, asker: this }, done),
      (outcome, exchange) => {
        if (this.udp === exchange) this.udp = null;
        if (outcome.kind === 'answer' && outcome.hasEdns === true) support.noteSeen();
        if (outcome.kind === 'truncated') this.askTcp();
        else if (outcome.kind === 'refused') this.askPlain();
        else if (outcome.kind === 'exposed') this.move(edns);
        else if (outcome.kind !== 'answer') this.settle(outcome);
        else if (outcome.answer.rcode === Rcode.BADCOOKIE) this.onBadCookie(outcome, marks);
        else this.evaluate(outcome, marks);
      },
    );
  }

  /** Ends the question with an answer, unless its response code may be due to the features of the query. */
  private evaluate(outcome: ExchangeOutcome & { kind: 'answer' }, marks: UsedMarks | null): void {
    const { rcode } = outcome.answer;
    let suspects: readonly HardeningFeature[] = [];
    if (rcode === Rcode.FORMERR || rcode === Rcode.NOTIMP) suspects = marks?.features ?? [];
    else if (rcode === Rcode.REFUSED || (rcode === Rcode.NXDOMAIN && !this.ways.hardening.isEarned('case')))
      suspects = marks?.features.filter((feature) => feature === 'case') ?? [];
    if (suspects.length === 0) this.settle(outcome);
    else this.hold(outcome, suspects);
  }

  /** Keeps a reply until the probes have shown whether the server supports these features. */
  private hold(outcome: ExchangeOutcome, suspects: readonly HardeningFeature[]): void {
    this.hasReplied = true;
    this.held = { outcome, sinceMs: this.held?.sinceMs ?? this.ways.clock.monotonicMs() };
    this.suspect(suspects);
    this.confirmOrRepeat();
    if (this.underWay.length === 0) this.check();
  }

  /** Whether probes have shown that the server supports the features; probes run at most once a second. */
  private isCleared({ sinceMs }: HeldReply): boolean {
    const { record } = this.ways.hardening;
    return this.suspects.every((feature) => record.hasFitSince(feature, sinceMs - PAIR_INTERVAL_MS));
  }

  /** Starts probes with and without these features, and waits for their result. */
  private suspect(features: readonly HardeningFeature[]): void {
    this.suspects = [...new Set([...this.suspects, ...features])];
    this.ways.doubtful.add(this);
    this.ways.prober.suspect(this.suspects);
  }

  /** Sends the question without a feature that was disabled. */
  private askAgain(): void {
    this.ways.doubtful.remove(this);
    this.suspects = [];
    this.held = null;
    this.askElsewhere();
  }

  /** Sends the same question from another port; false if the maximum number of repetitions is reached. */
  private repeat(): boolean {
    if (this.marks === null || this.repeats++ >= MAX_REPEATS) return false;
    this.askElsewhere();
    return true;
  }

  /** Close the old port before a new one is opened. */
  private askElsewhere(): void {
    if (this.udp !== null) {
      this.udp.cancel();
      this.remove(this.udp);
    }
    this.askUdp(this.ways.edns.isUsed);
  }

  /** Sends the question without EDNS, once. */
  private askPlain(): void {
    if (this.askedPlain) return;
    this.askedPlain = true;
    this.ways.onRefusal(this.question);
    // A server may refuse EDNS because of the cookie.
    if (this.marks?.features.includes('cookies') === true) this.ways.prober.suspect(['cookies']);
    this.askUdp(false);
  }

  /** Sends the question over TCP; the wait over UDP continues until there is an answer over TCP. */
  private confirm(): void {
    if (this.hasConfirmed || this.askedTcp || this.brief !== null || !this.ways.brief.isPossible) return;
    this.hasConfirmed = true;
    this.askTcpBriefly(
      (done) => this.ways.brief.ask(this.question, this.hasReplied, done),
      (outcome) => {
        if (this.repeat()) return;
        if (this.underWay.length === 0 && this.held === null) this.settle(outcome);
        else this.check();
      },
    );
  }

  private confirmOrRepeat(): void {
    this.confirm();
    if (this.brief === null && !this.askedTcp) this.repeat();
  }

  /** A third party is guessing ids on the port, which was closed: sends the question over TCP, or from another port. */
  private move(edns: boolean): void {
    if (++this.moves > MAX_MOVES) {
      // Do not repeat the question: each repetition would give the attacker more guesses.
      this.settle({ kind: 'failed', reason: 'unusable', detail: 'a third party is guessing ids' });
      return;
    }
    const askElsewhere = (): void => this.askUdp(edns);
    const hasRefuge =
      this.brief === null &&
      !this.soughtRefuge &&
      this.askTcpBriefly((done) => this.ways.brief.askInRefuge(this.question, done), askElsewhere);
    if (hasRefuge) this.soughtRefuge = true;
    else askElsewhere();
  }

  /**
   * Sends the question over TCP with a short time limit; calls `lost` if there is no answer. False if TCP cannot be
   * used.
   */
  private askTcpBriefly(
    start: (done: ExchangeDone) => Exchange | null,
    lost: (outcome: ExchangeOutcome) => void,
  ): boolean {
    const exchange = start((outcome) => {
      this.remove(exchange!);
      this.brief = null;
      if (isLost(outcome)) lost(outcome);
      else this.finish(outcome);
    });
    if (exchange === null) return false;
    this.brief = exchange;
    this.underWay.push(exchange);
    return true;
  }

  /** Sends the question over TCP with the time limit of the question. */
  private askTcp(): void {
    if (this.askedTcp) return;
    this.askedTcp = true;
    this.add(
      (done) => this.ways.tcp.ask(this.question, done),
      (outcome) => {
        if (isLost(outcome)) {
          this.settle(outcome);
          return;
        }
        this.ways.hardening.record.note('tcp', 'supported');
        this.finish(outcome);
      },
    );
  }

  private onBadCookie(outcome: ExchangeOutcome & { kind: 'answer' }, marks: UsedMarks | null): void {
    if (marks === null || marks.cookie === null) this.settle(outcome);
    else if (this.triedCookie) this.hold(outcome, ['cookies']);
    else {
      this.triedCookie = true;
      this.askUdp(true);
    }
  }

  private add(
    start: (done: ExchangeDone) => Exchange,
    done: (outcome: ExchangeOutcome, exchange: Exchange) => void,
  ): Exchange {
    const exchange = start((outcome) => {
      this.remove(exchange);
      done(outcome, exchange);
    });
    this.underWay.push(exchange);
    return exchange;
  }

  private remove(exchange: Exchange): void {
    const at = this.underWay.indexOf(exchange);
    if (at >= 0) this.underWay.splice(at, 1);
  }

  /** An answer ends the question; a failure ends it only if no exchange is in flight and no reply is kept. */
  private settle(outcome: ExchangeOutcome): void {
    if (outcome.kind === 'answer' || (this.underWay.length === 0 && this.held === null)) this.finish(outcome);
  }

  private finish(outcome: ExchangeOutcome): void {
    this.cancel();
    this.done(outcome);
  }
}
