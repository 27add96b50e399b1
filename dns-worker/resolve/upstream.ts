/**
 * One upstream server: its addresses, its transport, and its state. `pool.ts` and `question-run.ts` choose servers;
 * `probe.ts` probes them; `attempt.ts` evaluates outcomes.
 */
import { isIP } from 'node:net';
import type { Logger } from '../../shared/log.ts';
import { describeCode } from '../../shared/net/fault-cause.ts';
import type { UpstreamReport } from '../../shared/threads/messages.ts';
import { NOTHING_KNOWN, type ServerSupport } from '../../shared/policy/hardening-settings.ts';
import type { PoolStrategy, UpstreamSettings } from '../../shared/policy/upstream-settings.ts';
import type { AttemptDone, AttemptKind } from './transport/attempt.ts';
import { Attempt } from './transport/attempt.ts';
import { type Bootstrap, type HostAddress, literalAddress } from './bootstrap/bootstrap.ts';
import type { CapabilityRecord } from './capability/capability-record.ts';
import { HARDENING_FEATURES } from './capability/hardening.ts';
import type { ExchangeOutcome, ServerAddress, ServerConnections } from './transport/exchange.ts';
import type { HealthThresholds } from './health/health.ts';
import { Health } from './health/health.ts';
import type { Question } from './response/question.ts';
import { type ConnectorParts, serverConnector } from './server-connector.ts';

/** Maximum number of attempts that continue after their question was answered, to measure the server. */
const MAX_LINGERING = 16;
/** Minimum milliseconds between two client questions that are also sent to a suspect server without probes. */
const TRIAL_MS = 1000;
/** Maximum number of addresses of one host that are used. */
const MAX_ADDRESSES = 8;

/** The objects that an upstream uses. */
export interface UpstreamParts extends ConnectorParts {
  readonly bootstrap: Bootstrap;
  readonly logger: Logger;
  readonly thresholds: HealthThresholds;
}

/** An attempt at an upstream. */
export type UpstreamAttempt = Attempt<Upstream>;

/** One server of one pool. */
export class Upstream {
  /** Position among all upstreams of the resolver. */
  readonly index: number;
  readonly settings: UpstreamSettings;
  readonly health: Health;
  /** Called when the server becomes Unhealthy. */
  onUnhealthy: (() => void) | null = null;
  private readonly poolName: string;
  private readonly strategy: PoolStrategy;
  private readonly parts: UpstreamParts;
  private readonly connect: (server: ServerAddress) => ServerConnections;
  private readonly lingering = new Map<UpstreamAttempt, NodeJS.Timeout>();
  private readonly connections = new Map<string, ServerConnections>();
  /** Addresses found in the last lookup (`found`), and the subset that is used (`resolved`). */
  private found: readonly HostAddress[] = [];
  private resolved: readonly HostAddress[] = [];
  private nextTrialMs = 0;
  private record: CapabilityRecord | null = null;
  /** Index of the address that is queried first; changes when that address fails. */
  private first = 0;

  constructor(
    place: { readonly index: number; readonly poolName: string; readonly strategy: PoolStrategy },
    settings: UpstreamSettings,
    parts: UpstreamParts,
  ) {
    this.index = place.index;
    this.settings = settings;
    this.health = new Health(parts.thresholds, (status) => {
      const fields = { upstream: settings.address, pool: place.poolName, lastError: this.lastError };
      if (status === 'Unhealthy') {
        parts.logger.warn('upstream marked unhealthy', fields);
        this.onUnhealthy?.();
      } else
        parts.logger.info('upstream marked healthy', { upstream: settings.address, pool: place.poolName });
    });
    this.poolName = place.poolName;
    this.strategy = place.strategy;
    this.parts = parts;
    this.connect = serverConnector(settings, parts);
  }

  /** Whether the server's answers lack DNSSEC signatures, according to the last check (`signature-check.ts`). */
  get removesSignatures(): boolean {
    const untilMs = this.health.removesSignaturesUntilMs;
    return untilMs > 0 && this.parts.clock.monotonicMs() < untilMs;
  }

  /**
   * The address at which the answer thread may query the server: a literal address that is queried over UDP; null =
   * none.
   */
  get fixedAddress(): string | null {
    const { transport } = this.settings;
    const host = hostOf(this.settings);
    return transport === 'udp' && isIP(host) !== 0 && !host.includes('%') ? host : null;
  }

  /** Whether probes with the features of the server's queries have failed, so that its answers need a closer check. */
  get isDoubted(): boolean {
    const { records } = this.parts.capabilities;
    const ip = this.fixedAddress;
    if (ip === null) return false;
    this.record ??= records.of({ ip, port: this.settings.port }, 'udp');
    return HARDENING_FEATURES.some((feature) => this.record!.isStruck(feature));
  }

  /** Counts the answer thread's queries, and starts probes that are due. */
  takeFirst(): void {
    const { queries } = this.health;
    this.health.takeFirst();
    const [address] = literalAddress(hostOf(this.settings));
    if (this.health.queries !== queries && address !== undefined) this.connectionsTo(address).keepUp?.();
  }

  /** Whether the server is queried in its normal order: as far as is known, it answers, with signatures. */
  get isInOrder(): boolean {
    const { health } = this;
    return health.status !== 'Unhealthy' && !health.isSuspect && !this.removesSignatures;
  }

  /** Sends a client's question. */
  ask(question: Question, done: AttemptDone<Upstream>): UpstreamAttempt {
    this.health.queries++;
    return this.start(question, 'live', false, done);
  }

  /** Retries a client's question that has failed, over TCP instead of UDP if `overTcp` is true. */
  askAgain(question: Question, overTcp: boolean, done: AttemptDone<Upstream>): UpstreamAttempt {
    return this.start(question, 'repeated', overTcp, done);
  }

  /** Whether a question is also sent to a suspect server; true about once a second, unless the server is probed. */
  isTried(nowMs: number): boolean {
    if (this.health.onSuspect !== null || nowMs < this.nextTrialMs) return false;
    this.nextTrialMs = nowMs + TRIAL_MS;
    return true;
  }

  /** Whether the server can be queried over TCP instead of the configured transport. */
  get hasOtherTransport(): boolean {
    return this.settings.transport === 'udp';
  }

  /** Sends a question without counting it as a client's. */
  probe(question: Question, done: AttemptDone<Upstream>): UpstreamAttempt {
    return this.start(question, 'probe', false, done);
  }

  /** Lets an attempt that is no longer needed run for at most this long, or cancels it. */
  linger(attempt: UpstreamAttempt, remainingMs: number): void {
    if (this.lingering.size >= MAX_LINGERING || attempt.wasQueued) {
      attempt.cancel();
      return;
    }
    const timer = setTimeout(() => {
      this.lingering.delete(attempt);
      attempt.timeOut();
    }, remainingMs);
    this.lingering.set(attempt, timer);
    attempt.onOver = () => {
      clearTimeout(timer);
      this.lingering.delete(attempt);
    };
  }

  /** Entry of the server in the upstream report. */
  report(): UpstreamReport {
    const { health } = this;
    return {
      address: this.settings.address,
      transport: this.settings.transport,
      poolName: this.poolName,
      strategy: this.strategy,
      status: health.shownStatus,
      queries: health.queries,
      failures: health.failures,
      consecutiveFailures: health.consecutiveFailures,
      lastError: this.lastError,
      latenciesMs: health.latencies(),
      latencyCounts: health.latencyCounts(),
      resolved: this.resolved.map(({ ip }) => ip),
      supports: this.support(),
      removesSignatures: this.removesSignatures,
    };
  }

  /** Features of the address that is queried first. */
  private support(): ServerSupport {
    const address = this.resolved[this.first];
    if (address === undefined) return NOTHING_KNOWN;
    const { transport } = this.settings;
    const { support } = this.parts.capabilities.records.of(
      { ip: address.ip, port: this.settings.port },
      transport,
    );
    // All transports except UDP use TCP.
    const isConnected = transport !== 'udp' && this.health.lastAnswerMs >= 0;
    return isConnected ? { ...support, tcp: 'supported' } : support;
  }

  private get lastError(): string | null {
    const { lastError } = this.health;
    return lastError === null ? null : (describeCode(lastError) ?? lastError);
  }

  /** Closes the server's connections and lingering attempts. */
  close(): void {
    for (const attempt of [...this.lingering.keys()]) attempt.cancel();
    for (const connections of this.connections.values()) connections.close();
  }

  private start(
    question: Question,
    kind: AttemptKind,
    overTcp: boolean,
    done: AttemptDone<Upstream>,
  ): UpstreamAttempt {
    const attempt = new Attempt<Upstream>(this, this.parts.clock, kind, done);
    const { settings } = this;
    this.parts.bootstrap.lookup(hostOf(settings), (found) => {
      if (attempt.isOver) return;
      if (found.length === 0) {
        const detail = `no address for ${settings.host}`;
        process.nextTick(() => attempt.end({ kind: 'failed', reason: 'network', detail }));
        return;
      }
      this.useAddresses(found);
      this.askAddresses(attempt, question, overTcp);
    });
    return attempt;
  }

  /** Updates the server's addresses; connections to previous addresses end when they are idle. */
  private useAddresses(found: readonly HostAddress[]): void {
    if (found === this.found) return;
    this.found = found;
    this.resolved = found.slice(0, MAX_ADDRESSES);
    this.first = 0;
    const current = new Set(this.resolved.map(({ ip }) => ip));
    for (const ip of this.connections.keys()) if (!current.has(ip)) this.connections.delete(ip);
  }

  /** Queries the first address, and the next address if the first fails or is silent. */
  private askAddresses(attempt: UpstreamAttempt, question: Question, overTcp: boolean): void {
    const addresses = this.resolved;
    const first = this.first;
    let asked = 0;
    let pending = 0;
    const askNext = (): void => {
      const place = (first + asked) % addresses.length;
      const address = addresses[place];
      if (asked >= addresses.length || address === undefined || attempt.isOver) return;
      asked++;
      pending++;
      const connections = this.connectionsTo(address);
      const way = (overTcp ? connections.tcp : undefined) ?? connections;
      attempt.exchanges.push(
        way.ask(question, (outcome: ExchangeOutcome) => {
          if (attempt.isOver) return;
          pending--;
          const isLost =
            outcome.kind === 'failed' && (outcome.reason === 'network' || outcome.reason === 'local');
          if (isLost && asked < addresses.length) {
            this.first = (place + 1) % addresses.length;
            askNext();
          } else if (outcome.kind === 'answer' || pending === 0) {
            if (outcome.kind === 'answer') this.first = place;
            else if (isBroken(outcome)) this.recheckAddresses();
            attempt.end(outcome);
          }
        }),
      );
    };
    attempt.onSilence = askNext;
    const startedMs = this.parts.clock.monotonicMs();
    attempt.onTimeOut = () => {
      if (this.health.lastAnswerMs < startedMs) this.recheckAddresses();
      if (this.first === first) this.first = (first + 1) % addresses.length;
    };
    askNext();
  }

  /** No address belongs to a working server: the host name may have other addresses now. */
  private recheckAddresses(): void {
    this.parts.bootstrap.recheck(hostOf(this.settings));
  }

  private connectionsTo(address: HostAddress): ServerConnections {
    let connections = this.connections.get(address.ip);
    if (connections === undefined) {
      connections = this.connect({ ip: address.ip, port: this.settings.port, family: address.family });
      this.connections.set(address.ip, connections);
    }
    return connections;
  }
}

function hostOf({ pinnedIp, host }: UpstreamSettings): string {
  return pinnedIp ?? host;
}

/** Whether there is no response, or the response is not from a DNS server. */
function isBroken(outcome: ExchangeOutcome): boolean {
  return outcome.kind === 'failed' && (outcome.reason === 'network' || outcome.reason === 'malformed');
}
