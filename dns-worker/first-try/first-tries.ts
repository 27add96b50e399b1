/**
 * The first try of a question: the answer thread queries the next servers over UDP, without waking another thread, and
 * a good answer ends the question. The resolver (`resolve/question-run.ts`) handles all other cases: a question that
 * gets no answer within the usual time, a doubtful reply, a response code that does not settle the question, an answer
 * that must be completed. Such a question goes through the miss ring to the resolve thread like a question that was not
 * tried, so the first try does not duplicate the resolver.
 */
import type { TrustAnchor } from '../../shared/dns/trust-anchors.ts';
import { systemClock } from '../../shared/clock.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { MissFlags, MissRecord } from '../../shared/memory/miss-ring.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import type { NativeCalls } from '../listeners/native-calls.ts';
import type { UdpBatch } from '../listeners/udp-batch.ts';
import { type MissWriter, networkSlot } from '../misses/miss-writer.ts';
import type { Query } from '../query/query.ts';
import type { Reporter } from '../report/reporter.ts';
import { type UsedMarks } from '../resolve/capability/hardening.ts';
import { checkMarks } from '../resolve/capability/reply-marks.ts';
import { type FlightOutcomes } from '../resolve/flight-outcomes.ts';
import type { Claim, QuestionClaims } from '../resolve/question-claims.ts';
import type { Answered } from '../resolve/resolution.ts';
import {
  isResponseTo,
  type Question,
  questionKey,
  unpaddedSize,
  writeQuery,
} from '../resolve/response/question.ts';
import { readResponse } from '../resolve/response/response-reader.ts';
import { isBareRefusal } from '../resolve/transport/edns-refusal.ts';
import type { AtOnceValidator } from './at-once-validator.ts';
import { Deadlines } from './deadlines.ts';
import type { FirstServer, FirstServers } from './first-servers.ts';
import { OpenTries, TRY_CAPACITY } from './open-tries.ts';
import type { TriedAnswers } from './tried-answers.ts';
import { TriedQuestion } from './tried-request.ts';
import { isSettled, isSimple, outcomeOf } from './try-rules.ts';
import { BATCH_SIZE, type TryEvents, TrySockets } from './try-sockets.ts';

/** Maximum number of queries to servers in flight. */
const EXCHANGES = 8192;
/** Maximum number of replies per socket and turn that are validated: clients wait for all of them. */
const VALIDATED_BATCH = 4;
const NONE = -1;
/** Marks an exchange whose question another server has answered; a late reply only measures the response time. */
const ANSWERED_BY_OTHER = -2;

export interface FirstTryParts {
  readonly calls: NativeCalls;
  readonly misses: MissWriter;
  readonly reporter: Reporter;
  readonly answers: TriedAnswers;
}

/** Parts that new settings replace. */
export interface FirstTrySettings {
  readonly servers: FirstServers;
  readonly claims: QuestionClaims;
  readonly outcomes: FlightOutcomes;
  /** Validator of answers; null = answers are not validated. */
  readonly validator: AtOnceValidator | null;
}

/** The first tries of one answer thread. */
export class FirstTries implements TryEvents {
  private readonly parts: FirstTryParts;
  private settings: FirstTrySettings;
  private readonly tries = new OpenTries();
  private readonly sockets: TrySockets;
  private readonly deadlines = new Deadlines(EXCHANGES, systemClock.monotonicMs());
  private readonly question = new TriedQuestion();
  private readonly chosen: (FirstServer | null)[] = [];
  /** Claim and first exchange of each question in flight. */
  private readonly claims = new Array<Claim | null>(TRY_CAPACITY).fill(null);
  private readonly exchangesOf = new Int32Array(TRY_CAPACITY).fill(NONE);
  /**
   * For each exchange: its question, the next exchange of that question, the server, flags, and the time of sending.
   */
  private readonly questionOf = new Int32Array(EXCHANGES).fill(NONE);
  private readonly nextExchange = new Int32Array(EXCHANGES).fill(NONE);
  private readonly servers = new Array<FirstServer | null>(EXCHANGES).fill(null);
  private readonly marks = new Array<UsedMarks | null>(EXCHANGES).fill(null);
  private readonly hasEdns = new Uint8Array(EXCHANGES);
  private readonly sentMs = new Float64Array(EXCHANGES);
  private readonly free = new Int32Array(EXCHANGES);
  private inFlight = 0;
  private isClosed = false;
  /** Outcome of the claim that is being released; null = none that other threads can use. */
  private outcome: Answered | null = null;

  constructor(parts: FirstTryParts, settings: FirstTrySettings) {
    this.parts = parts;
    this.settings = settings;
    this.sockets = new TrySockets(parts.calls, EXCHANGES, this);
    for (let i = 0; i < EXCHANGES; i++) this.free[i] = EXCHANGES - 1 - i;
  }

  /** File descriptor that is readable when a reply has arrived. */
  get fd(): number {
    return this.sockets.fd;
  }

  /** Whether any reply is expected. */
  get isWaiting(): boolean {
    return this.inFlight > 0;
  }

  /** Replaces the settings. */
  use(settings: FirstTrySettings): void {
    this.settings = settings;
  }

  /** Replaces the trust anchors. */
  trust(anchors: readonly TrustAnchor[]): void {
    this.settings.validator?.trust(anchors);
  }

  /**
   * Sends the question of `query` from `slot`, which neither policy nor cache answered, to servers; false = pass it to
   * the resolve thread.
   */
  ask(query: Query, batch: UdpBatch, slot: number, version: number): boolean {
    const { tries } = this;
    if (this.isClosed || !isSimple(query) || !this.settings.servers.follow()) return false;
    const network = networkSlot(this.parts.misses.networks, query);
    if (!tries.admits(network)) return false;
    const found = tries.find(query);
    if (found !== NONE) {
      if (!tries.mayJoin(found)) return false;
      tries.join(found, tries.take(query, batch, slot, version, network));
      return true;
    }
    const question = tries.open(query, batch, slot, version, network);
    this.question.load(tries.records, question * MissRecord.SIZE);
    const mayTry = this.validator()?.mayProve(this.question) !== false;
    const claim = mayTry ? this.settings.claims.claim(POOLS_PARTITION, this.question) : null;
    if (claim?.isMine === true) {
      this.claims[question] = claim;
      if (this.askServers(question, query.arrivedMonotonicMs)) return true;
      this.release(question, null);
    }
    tries.close(question);
    return false;
  }

  /** Sends the queries of this turn. */
  flush(): void {
    this.sockets.flush();
  }

  /** Receives replies, and gives up overdue questions; returns the number of replies. */
  turn(): number {
    if (this.inFlight === 0) return 0;
    const count = this.sockets.receive();
    this.settings.validator?.endTurn(this.sockets.hasLeft);
    const nowMs = systemClock.monotonicMs();
    for (let late = this.deadlines.expired(nowMs); late !== NONE; late = this.deadlines.expired(nowMs))
      this.expire(late);
    this.parts.answers.flush();
    this.parts.misses.publish();
    return count;
  }

  /** Milliseconds until `turn` is due without a reply; Infinity = not due. */
  untilNextMs(): number {
    return this.deadlines.untilNextMs(systemClock.monotonicMs());
  }

  /** Passes all questions to the resolve thread and accepts no new questions. */
  close(): void {
    this.isClosed = true;
    for (let exchange = 0; exchange < EXCHANGES; exchange++) {
      if (this.questionOf[exchange] !== NONE) this.giveUp(exchange, 0);
    }
    this.parts.misses.publish();
    this.sockets.close();
  }

  get isTurnOver(): boolean {
    return this.settings.validator?.isTurnOver === true;
  }

  get batchSize(): number {
    return this.settings.validator === null ? BATCH_SIZE : VALIDATED_BATCH;
  }

  received(exchange: number, message: Uint8Array): void {
    try {
      this.receive(exchange, message);
    } catch {
      // A malformed reply must not end the thread that answers all clients.
      this.parts.reporter.count(Counter.INTERNAL_ERRORS);
      if (this.questionOf[exchange] !== NONE) this.giveUp(exchange, 0);
    }
  }

  private receive(exchange: number, message: Uint8Array): void {
    const asked = this.questionOf[exchange]!;
    if (asked === ANSWERED_BY_OTHER) {
      this.noteAnswered(exchange);
      this.end(exchange);
      return;
    }
    const { question } = this;
    question.load(this.tries.records, asked * MissRecord.SIZE);
    if (this.hasEdns[exchange] === 1 && isBareRefusal(message)) this.giveUp(exchange, 0);
    else if (isResponseTo(message, question)) this.takeResponse(exchange, message);
    // Other replies do not answer one of our questions: the wait continues.
  }

  failed(exchange: number): void {
    this.giveUp(exchange, 0);
  }

  exposed(exchange: number): void {
    this.giveUp(exchange, MissFlags.EXPOSED);
  }

  /** Handles a server that did not answer in time; its question waits if another server may still answer. */
  private expire(exchange: number): void {
    const question = this.questionOf[exchange]!;
    if (question !== ANSWERED_BY_OTHER && !this.leavesOthers(question, exchange)) {
      this.passOn(question, MissFlags.SILENT);
      return;
    }
    const server = this.servers[exchange]!;
    if (this.isInUse(server)) server.noteSilent();
    this.end(exchange);
  }

  /** Removes an exchange from its question if the question has other exchanges; returns whether it has others. */
  private leavesOthers(question: number, exchange: number): boolean {
    const { exchangesOf, nextExchange } = this;
    const first = exchangesOf[question]!;
    if (first === exchange) {
      if (nextExchange[first] === NONE) return false;
      exchangesOf[question] = nextExchange[first]!;
      return true;
    }
    let before = first;
    while (nextExchange[before] !== exchange) before = nextExchange[before]!;
    nextExchange[before] = nextExchange[exchange]!;
    return true;
  }

  /** Gives up an exchange; its question, if it is still open, goes to the resolve thread. */
  private giveUp(exchange: number, flags: number): void {
    const question = this.questionOf[exchange]!;
    if (question < 0) this.end(exchange);
    else this.passOn(question, flags);
  }

  /** Handles a response to the question of an exchange; the caller has loaded the question. */
  private takeResponse(exchange: number, message: Uint8Array): void {
    const server = this.servers[exchange]!;
    const marks = this.marks[exchange] ?? null;
    const isProven = marks === null || checkMarks(message, marks) === 'repeated';
    if (isProven && marks !== null) server.hardening.learn(message, marks);
    const validator = this.validator();
    const reading = isProven ? readResponse(message, this.sentQuestion()) : null;
    if (reading?.kind !== 'answer' || !isSettled(reading.answer.rcode, server, marks)) {
      this.giveUp(exchange, reading === null ? 0 : outcomeOf(reading));
      return;
    }
    if (reading.hasEdns) server.edns.noteSeen();
    this.noteAnswered(exchange);
    const { answer } = reading;
    const upstream = server.number;
    const proven = validator === null ? null : validator.prove(this.question, answer);
    if (proven !== null) this.settle(exchange, { kind: 'answer', upstream, ...proven });
    else if (validator === null) this.settle(exchange, { kind: 'answer', answer, upstream });
    else this.giveUp(exchange, 0);
  }

  /** Validator for the answer to the loaded question; null = no validation. */
  private validator(): AtOnceValidator | null {
    return this.question.checkingDisabled ? null : this.settings.validator;
  }

  /** The loaded question in the form that is sent to servers. */
  private sentQuestion(): Question {
    return this.validator() === null ? this.question : this.question.withProofs;
  }

  /**
   * Replies to all requests that wait for a question. An answer of a removed server is sent to them, but not cached.
   */
  private settle(exchange: number, answered: Answered): void {
    const { tries, parts } = this;
    const question = this.questionOf[exchange]!;
    const isKept = this.isInUse(this.servers[exchange]!);
    for (let request = question; request !== NONE; request = tries.after(request)) {
      const at = request * MissRecord.SIZE;
      if (!parts.answers.answer(tries.records, at, answered, isKept)) this.passOnRequest(request, 0);
    }
    this.end(exchange);
    // The other servers' answers are still used to measure their response times.
    for (let other = this.exchangesOf[question]!; other !== NONE; other = this.nextExchange[other]!)
      if (this.questionOf[other] === question) this.questionOf[other] = ANSWERED_BY_OTHER;
    this.release(question, isKept ? answered : null);
    tries.close(question);
  }

  /** Passes a question and all requests that wait for it to the resolve thread. */
  private passOn(question: number, flags: number): void {
    const { tries } = this;
    for (let exchange = this.exchangesOf[question]!; exchange !== NONE;) {
      const next = this.nextExchange[exchange]!;
      if (this.questionOf[exchange] === question) this.end(exchange);
      exchange = next;
    }
    this.release(question, null);
    for (let request = question; request !== NONE; request = tries.after(request))
      this.passOnRequest(request, flags);
    tries.close(question);
  }

  private passOnRequest(request: number, flags: number): void {
    const { misses, reporter } = this.parts;
    const { tries } = this;
    const at = request * MissRecord.SIZE;
    if (!misses.writeRecord(tries.records.bytes, at, tries.networkOf(request), flags))
      reporter.count(Counter.UNRESOLVED_DROPPED);
  }

  /** Sends the loaded question to the next servers; false if none could be queried. */
  private askServers(question: number, nowMs: number): boolean {
    const count = this.settings.servers.choose(this.chosen);
    const random = Math.random();
    this.exchangesOf[question] = NONE;
    for (let i = 0; i < count; i++) this.askServer(question, this.chosen[i]!, nowMs, random);
    return this.exchangesOf[question] !== NONE;
  }

  private askServer(question: number, server: FirstServer, nowMs: number, random: number): void {
    if (this.inFlight === EXCHANGES) return;
    const exchange = this.free[EXCHANGES - 1 - this.inFlight]!;
    const id = this.sockets.join(exchange, server, nowMs);
    if (id < 0) return;
    this.inFlight++;
    const edns = server.edns.isUsed;
    const marks = server.hardening.marks(this.question.qname, edns);
    this.questionOf[exchange] = question;
    this.servers[exchange] = server;
    this.marks[exchange] = marks;
    this.hasEdns[exchange] = edns ? 1 : 0;
    this.sentMs[exchange] = nowMs;
    this.nextExchange[exchange] = this.exchangesOf[question]!;
    this.exchangesOf[question] = exchange;
    const form = { edns, marks, padTo: 0 };
    const sent = this.sentQuestion();
    const size = unpaddedSize(sent, form);
    writeQuery(this.sockets.bufferFor(exchange), size, sent, id, form);
    this.sockets.send(size);
    this.deadlines.add(exchange, nowMs, server.waitMs(random));
    server.noteAsked();
  }

  private noteAnswered(exchange: number): void {
    const server = this.servers[exchange]!;
    const nowMs = systemClock.monotonicMs();
    if (this.isInUse(server)) server.noteAnswered(nowMs - this.sentMs[exchange]!, nowMs);
  }

  /** Whether a server is still configured; a removed server's position may belong to another server now. */
  private isInUse(server: FirstServer): boolean {
    return this.settings.servers.isCurrent(server);
  }

  /** Frees an exchange. */
  private end(exchange: number): void {
    this.deadlines.remove(exchange);
    this.sockets.leave(exchange);
    this.servers[exchange]!.inFlight--;
    this.servers[exchange] = null;
    this.marks[exchange] = null;
    this.questionOf[exchange] = NONE;
    this.inFlight--;
    this.free[EXCHANGES - 1 - this.inFlight] = exchange;
  }

  /**
   * Releases the claim, so that other threads may send the question; threads that wait for the claim get the outcome,
   * if any.
   */
  private release(question: number, answered: Answered | null): void {
    this.outcome = answered;
    this.question.load(this.tries.records, question * MissRecord.SIZE);
    this.settings.claims.release(this.claims[question]!, this.passOutcome);
    this.claims[question] = null;
  }

  /** This is a field, so that no closure is allocated for each question. */
  private readonly passOutcome = (waitedFor: Claim): void => {
    if (this.outcome !== null)
      this.settings.outcomes.put(waitedFor, questionKey(this.question), this.outcome);
  };
}
