/**
 * Checks whether upstreams send queries back to this server, as a router does if it forwards to this server: each
 * upstream occasionally gets a query for a one-time name. The control plane sees which client queries such a name, and
 * reports it to all threads.
 */
import { randomBytes } from 'node:crypto';
import { RRClass, RRType } from '../../shared/dns/iana.ts';
import { LOOP_TOKEN_LENGTH, loopName } from '../../shared/dns/loop-name.ts';
import type { Logger } from '../../shared/log.ts';
import type { UpstreamReport, WorkerSettings } from '../../shared/threads/messages.ts';
import type { Upstream, UpstreamAttempt } from './upstream.ts';

/**
 * Time until the first check and between later checks, as multiples of the health check interval; and the minimum time
 * until the first check, in milliseconds.
 */
const FIRST_INTERVALS = 2;
const MIN_FIRST_MS = 2000;
const LATER_INTERVALS = 20;
const MIN_LATER_MS = 10_000;
/** Milliseconds to wait for the name to come back. */
const RETURN_MS = 5000;
/** Random variation of the interval, so that workers do not check at the same time. */
const JITTER = 0.2;

/** An upstream with the state of its check. */
interface Checked {
  readonly token: string;
  /** The client that queried the last name that came back; null = none. */
  readonly client: string | null;
  /** Whether this check's name came back. */
  readonly hasReturned: boolean;
}

/** Checks the upstreams of one resolver until closed. */
export class LoopCheck {
  private readonly upstreams: readonly Upstream[];
  private readonly zone: Uint8Array | null;
  private readonly logger: Logger;
  private readonly laterMs: number;
  private readonly checked = new Map<Upstream, Checked>();
  private attempts: readonly UpstreamAttempt[] = [];
  private timer: NodeJS.Timeout;

  /** `zone`: the forward zone of the upstreams, in wire form; null = the upstreams of the pools. */
  constructor(
    upstreams: readonly Upstream[],
    zone: Uint8Array | null,
    { intervalSecs }: WorkerSettings['healthCheck'],
    logger: Logger,
  ) {
    this.upstreams = upstreams;
    this.zone = zone;
    this.logger = logger;
    this.laterMs = Math.max(MIN_LATER_MS, LATER_INTERVALS * intervalSecs * 1000);
    const firstMs = Math.max(MIN_FIRST_MS, FIRST_INTERVALS * intervalSecs * 1000);
    this.timer = this.after(firstMs, () => this.ask());
  }

  /** Reports that a client has queried the name with this token: an upstream may have sent the name back. */
  note(token: string, client: string): void {
    for (const [upstream, checked] of this.checked) {
      if (checked.token !== token || checked.hasReturned) continue;
      this.checked.set(upstream, { token, client, hasReturned: true });
      if (checked.client === null)
        this.logger.warn('forwarding loop: an upstream sends queries back to this server', {
          upstream: upstream.settings.address,
          client,
        });
    }
  }

  /** The report of an upstream, with its forwarding loop if there is one. */
  mark(upstream: Upstream, report: UpstreamReport): UpstreamReport {
    const client = this.checked.get(upstream)?.client ?? null;
    if (client === null) return report;
    const lastError = `forwarding loop: sends queries back to this server (as client ${client})`;
    return { ...report, status: 'Unhealthy', lastError };
  }

  /** Stops the checks, and cancels a check in flight. */
  close(): void {
    clearTimeout(this.timer);
    for (const attempt of this.attempts) attempt.cancel();
  }

  private after(ms: number, work: () => void): NodeJS.Timeout {
    return setTimeout(work, ms * (1 - JITTER + 2 * JITTER * Math.random())).unref();
  }

  private ask(): void {
    this.timer = this.after(RETURN_MS, () => this.conclude());
    this.attempts = this.upstreams.flatMap((upstream) => {
      const token = randomBytes(LOOP_TOKEN_LENGTH / 2).toString('hex');
      const qname = loopName(token, this.zone);
      if (qname === null) return [];
      const client = this.checked.get(upstream)?.client ?? null;
      this.checked.set(upstream, { token, client, hasReturned: false });
      const flags = { dnssecOk: false, checkingDisabled: false, ecs: null };
      const question = { qname, qtype: RRType.SOA, qclass: RRClass.IN, ...flags };
      // Ignore the answer: only a query for the name counts.
      return [upstream.probe(question, () => undefined)];
    });
  }

  private conclude(): void {
    for (const attempt of this.attempts) attempt.cancel();
    this.attempts = [];
    for (const [upstream, checked] of this.checked)
      if (!checked.hasReturned) this.checked.set(upstream, { ...checked, client: null });
    this.timer = this.after(this.laterMs, () => this.ask());
  }
}
