/**
 * One upstream server: how it is asked (UDP, then TCP on truncation, without EDNS where it does not know
 * it; or TCP from the start), and what each outcome says of its health. Which server is asked when is
 * `pool.ts` and `question-run.ts`; asking on a schedule is `probe.ts`.
 */
import type { Clock } from '../../shared/clock.ts';
import { Rcode, rcodeName } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import type { PoolStrategy, UpstreamReport, UpstreamSettings } from '../../shared/messages.ts';
import type { Bootstrap } from './bootstrap.ts';
import type { Exchange, ExchangeOutcome, ServerAddress } from './exchange.ts';
import { StreamUpstream, openTcp } from './exchange-tcp.ts';
import { exchangeUdp } from './exchange-udp.ts';
import type { HealthThresholds } from './health.ts';
import { Health } from './health.ts';
import type { Question } from './question.ts';
import type { CacheableAnswer } from './response-reader.ts';

/** How an attempt ended by itself. */
export type AttemptOutcome =
  | { readonly kind: 'answer'; readonly answer: CacheableAnswer }
  | { readonly kind: 'failed'; readonly reason: 'network' | 'malformed' | 'unusable' };

/** Called at most once, never before `ask` has returned. */
export type AttemptDone = (attempt: Attempt, outcome: AttemptOutcome) => void;

/** Attempts of questions already answered that are let run, to learn of the server. */
const MAX_LINGERING = 16;

/** Whether a response code settles a question; any other may be better elsewhere. */
export function isDefinitive(rcode: number): boolean {
  return rcode === Rcode.NOERROR || rcode === Rcode.NXDOMAIN || rcode === Rcode.YXDOMAIN;
}

/** One server of one pool. */
export class Upstream {
  /** Position among all upstreams of the resolver. */
  readonly index: number;
  readonly settings: UpstreamSettings;
  readonly health: Health;
  /** Called when it becomes Unhealthy. */
  onSetAside: (() => void) | null = null;
  readonly #poolName: string;
  readonly #strategy: PoolStrategy;
  readonly #bootstrap: Bootstrap;
  readonly #clock: Clock;
  readonly #lingering = new Map<Attempt, NodeJS.Timeout>();
  #stream: StreamUpstream | null = null;
  #streamIp = '';

  constructor(
    place: { readonly index: number; readonly poolName: string; readonly strategy: PoolStrategy },
    settings: UpstreamSettings,
    parts: {
      readonly bootstrap: Bootstrap;
      readonly clock: Clock;
      readonly logger: Logger;
      readonly thresholds: HealthThresholds;
    },
  ) {
    this.index = place.index;
    this.settings = settings;
    this.health = new Health(parts.thresholds, (status) => {
      const fields = { upstream: settings.address, pool: place.poolName, lastError: this.health.lastError };
      if (status === 'Unhealthy') {
        parts.logger.warn('upstream set aside', fields);
        this.onSetAside?.();
      } else parts.logger.info('upstream answers', { upstream: settings.address, pool: place.poolName });
    });
    this.#poolName = place.poolName;
    this.#strategy = place.strategy;
    this.#bootstrap = parts.bootstrap;
    this.#clock = parts.clock;
    if (!this.isAskable) this.health.recordDoubt('transport not available yet');
  }

  /** Whether its transport exists; one that does not is never asked. */
  get isAskable(): boolean {
    return this.settings.transport === 'udp' || this.settings.transport === 'tcp';
  }

  /** Asks a live question. */
  ask(question: Question, done: AttemptDone): Attempt {
    this.health.queries++;
    return this.#start(question, done, true);
  }

  /** Asks without counting it among the live questions. */
  probe(question: Question, done: AttemptDone): Attempt {
    return this.#start(question, done, false);
  }

  /** Lets an attempt that is not needed any more run for at most this long, or cancels it. */
  linger(attempt: Attempt, remainingMs: number): void {
    if (this.#lingering.size >= MAX_LINGERING) {
      attempt.cancel();
      return;
    }
    const timer = setTimeout(() => {
      this.#lingering.delete(attempt);
      attempt.timeOut();
    }, remainingMs);
    this.#lingering.set(attempt, timer);
    attempt.onOver = () => {
      clearTimeout(timer);
      this.#lingering.delete(attempt);
    };
  }

  /** Its line in the upstream report. */
  report(): UpstreamReport {
    const { health } = this;
    return {
      address: this.settings.address,
      poolName: this.#poolName,
      strategy: this.#strategy,
      status: health.status,
      queries: health.queries,
      failures: health.failures,
      consecutiveFailures: health.consecutiveFailures,
      lastError: health.lastError,
      latencyMs: health.latency(),
    };
  }

  /** Drops its connections and whatever still lingers. */
  close(): void {
    for (const attempt of [...this.#lingering.keys()]) attempt.cancel();
    this.#stream?.close();
  }

  #start(question: Question, done: AttemptDone, live: boolean): Attempt {
    const attempt = new Attempt(this, this.#clock, live, done);
    const { settings } = this;
    this.#bootstrap.lookup(settings.pinnedIp ?? settings.host, (found) => {
      if (attempt.isOver) return;
      if (found === null) {
        const detail = `no address for ${settings.host}`;
        process.nextTick(() => attempt.end({ kind: 'failed', reason: 'network', detail }));
        return;
      }
      const server = { ip: found.ip, port: settings.port, family: found.family };
      if (settings.transport === 'udp') this.#askUdp(attempt, server, question, true);
      else this.#askTcp(attempt, server, question);
    });
    return attempt;
  }

  #askUdp(attempt: Attempt, server: ServerAddress, question: Question, edns: boolean): void {
    attempt.exchange = exchangeUdp(server, question, edns, (outcome) => {
      if (attempt.isOver) return;
      if (outcome.kind === 'truncated') this.#askTcp(attempt, server, question);
      else if (edns && outcome.kind === 'answer' && rejectsEdns(outcome.answer.rcode)) {
        // Nothing is learnt from it: one forged reply must not switch EDNS off for this server.
        this.#askUdp(attempt, server, question, false);
      } else attempt.end(outcome);
    });
  }

  #askTcp(attempt: Attempt, server: ServerAddress, question: Question): void {
    if (this.#stream === null || this.#streamIp !== server.ip) {
      // Connections to a former address end by their idle timeout.
      this.#stream = new StreamUpstream(server, openTcp, this.#clock);
      this.#streamIp = server.ip;
    }
    attempt.exchange = this.#stream.ask(question, (outcome) => attempt.end(outcome));
  }
}

/** RFC 6891 section 7: a server without EDNS answers FORMERR, NOTIMP or, older ones, nothing of sense. */
function rejectsEdns(rcode: number): boolean {
  return rcode === Rcode.FORMERR || rcode === Rcode.NOTIMP;
}

/** One question under way to one upstream, over whichever transports that takes. */
export class Attempt implements Exchange {
  readonly upstream: Upstream;
  /** Set by the upstream, which changes it when the transport does. */
  exchange: Exchange | null = null;
  /** Called when the attempt ends in any way. */
  onOver: (() => void) | null = null;
  readonly #clock: Clock;
  readonly #live: boolean;
  readonly #done: AttemptDone;
  readonly #startedMs: number;
  #over = false;

  constructor(upstream: Upstream, clock: Clock, live: boolean, done: AttemptDone) {
    this.upstream = upstream;
    this.#clock = clock;
    this.#live = live;
    this.#done = done;
    this.#startedMs = clock.monotonicMs();
  }

  get isOver(): boolean {
    return this.#over;
  }

  resend(): void {
    this.exchange?.resend();
  }

  cancel(): void {
    if (this.#finish()) this.exchange?.cancel();
  }

  /** Gives up for want of time and holds that against the server. */
  timeOut(): void {
    if (this.#over) return;
    const { health } = this.upstream;
    if (this.#live) health.failures++;
    // It answered others meanwhile: then it is the question that takes long, not the server that is away.
    if (health.lastAnswerMs > this.#startedMs) health.recordDoubt('timeout');
    else health.recordFault('timeout', this.#clock.monotonicMs() - this.#startedMs);
    this.cancel();
  }

  /** Takes what an exchange came to. */
  end(outcome: ExchangeOutcome): void {
    if (!this.#finish()) return;
    const { health } = this.upstream;
    if (outcome.kind !== 'answer') {
      const failure = outcome.kind === 'failed' ? outcome : TRUNCATED_AGAIN;
      if (this.#live) health.failures++;
      if (failure.reason === 'unusable') health.recordDoubt(failure.detail);
      else health.recordFault(failure.detail);
      this.#done(this, { kind: 'failed', reason: failure.reason });
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    health.recordLatency(nowMs - this.#startedMs, nowMs);
    if (isDefinitive(outcome.answer.rcode)) health.recordSuccess();
    else {
      if (this.#live) health.failures++;
      health.recordDoubt(rcodeName(outcome.answer.rcode));
    }
    this.#done(this, outcome);
  }

  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.onOver?.();
    return true;
  }
}

const TRUNCATED_AGAIN = { kind: 'failed', reason: 'malformed', detail: 'truncated over a stream' } as const;
