/**
 * Health probes: each upstream gets, at random intervals, a query that it should be able to answer, unless answers to
 * clients already show that it is healthy. An unhealthy server is probed until it recovers.
 */
import type { Clock } from '../../shared/clock.ts';
import { RRClass, RRType, Rcode } from '../../shared/dns/iana.ts';
import type { WorkerSettings } from '../../shared/threads/messages.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import type { Question } from './response/question.ts';
import type { AttemptOutcome } from './transport/attempt.ts';
import { isDefinitive } from './transport/attempt.ts';
import type { Upstream, UpstreamAttempt } from './upstream.ts';

/** The question `. NS`, whose answer every resolver has in its cache. */
export const ROOT_SERVERS: Question = probeFor(new Uint8Array(1), RRType.NS);

/**
 * A public name with letters, in a domain that is reserved for examples (RFC 2606): capability probes query this name
 * and random names below it.
 */
export const PUBLIC_NAME: Question = probeFor(nameFromText('www.example.com')!, RRType.A);

/**
 * The question for the SOA of a zone, which the zone's servers answer without querying other servers. `zone` is in
 * lower-case wire form.
 */
export function zoneProbe(zone: Uint8Array): Question {
  return probeFor(zone, RRType.SOA);
}

function probeFor(qname: Uint8Array, qtype: number): Question {
  return { qname, qtype, qclass: RRClass.IN, dnssecOk: false, checkingDisabled: false, ecs: null };
}

/** Maximum delay of the first probe, and of probes while a server's status is undecided, in milliseconds. */
const SOON_MS = 1000;
/** Random variation of intervals in both directions, so that workers and nodes do not probe at the same time. */
const JITTER = 0.2;

/** Probes one upstream until closed. */
export class Probe {
  private readonly upstream: Upstream;
  private readonly question: Question;
  private readonly settings: WorkerSettings['healthCheck'];
  private readonly clock: Clock;
  private timer: NodeJS.Timeout;
  private attempt: UpstreamAttempt | null = null;
  private closed = false;

  constructor(upstream: Upstream, question: Question, settings: WorkerSettings['healthCheck'], clock: Clock) {
    this.upstream = upstream;
    this.question = question;
    this.settings = settings;
    this.clock = clock;
    upstream.onUnhealthy = () => this.expedite(SOON_MS);
    upstream.health.onSuspect = () => this.expedite(0);
    this.timer = this.after(Math.random() * Math.min(SOON_MS, this.intervalMs));
  }

  /** Stops the probes, and cancels a probe in flight. */
  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.attempt?.cancel();
  }

  private get intervalMs(): number {
    return this.settings.intervalSecs * 1000;
  }

  private after(delayMs: number): NodeJS.Timeout {
    const timer = setTimeout(() => {
      try {
        this.tick();
      } catch (error) {
        // Schedule the next probe even after an error; no other code does.
        this.conclude();
        throw error;
      }
    }, delayMs);
    timer.unref();
    return timer;
  }

  private next(): void {
    if (this.closed) return;
    const { status, consecutiveFailures, isSuspect } = this.upstream.health;
    const isFailing = consecutiveFailures > 0;
    const isUndecided = status === 'Unhealthy' ? !isFailing : isSuspect || isFailing;
    const jittered = this.intervalMs * (1 - JITTER + 2 * JITTER * Math.random());
    this.timer = this.after(isUndecided ? Math.min(SOON_MS, jittered) : jittered);
  }

  /**
   * Probes soon: a server that clients' queries have just made unhealthy or suspect may be healthy, and other servers
   * are queried until a probe shows that it is.
   */
  private expedite(withinMs: number): void {
    if (this.closed || this.attempt !== null) return;
    clearTimeout(this.timer);
    this.timer = this.after(Math.min(withinMs, this.intervalMs));
  }

  private tick(): void {
    const { health } = this.upstream;
    const sinceAnswerMs = this.clock.monotonicMs() - health.lastAnswerMs;
    const hasAnswered = health.lastAnswerMs >= 0 && sinceAnswerMs < this.intervalMs;
    if (health.status === 'Healthy' && hasAnswered && !health.isSuspect) {
      this.next();
      return;
    }
    const attempt = this.upstream.probe(this.question, (_attempt, outcome) => {
      clearTimeout(this.timer);
      evaluate(this.upstream, outcome);
      this.conclude();
    });
    this.attempt = attempt;
    this.timer = setTimeout(() => {
      attempt.timeOut();
      this.conclude();
    }, this.settings.timeoutMs);
    this.timer.unref();
  }

  private conclude(): void {
    this.attempt = null;
    this.next();
  }
}

/**
 * Evaluates a response code. A server that serves only its own zones refuses the root and is healthy, as is a router
 * that knows the hosts of a zone but not the zone itself. A server that cannot reach the root, or failed to load its
 * zone, answers SERVFAIL and is unusable.
 */
function evaluate(upstream: Upstream, outcome: AttemptOutcome): void {
  if (outcome.kind !== 'answer' || isDefinitive(outcome.answer.rcode)) return;
  if (outcome.answer.rcode === Rcode.SERVFAIL) upstream.health.recordFault('SERVFAIL to a probe');
  else upstream.health.recordSuccess();
}
