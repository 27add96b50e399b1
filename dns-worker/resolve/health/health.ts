/**
 * The health of one upstream: counters, the resulting state, and recent latencies. Evidence comes from queries for
 * clients and from probes (`upstream.ts` sends both). Only proof that the server is at fault counts against it:
 * silence, network errors, malformed data, or SERVFAIL or REFUSED for a question that another server answered. A broken
 * domain makes every server answer SERVFAIL, so it counts against none of them.
 */
import { LATENCY_CLASSES, latencyClass } from '../../../shared/memory/answer-counters.ts';
import type { LatencyCounts } from '../../../shared/threads/messages.ts';

/** Health as reported; Unknown until there is evidence. */
export type HealthStatus = 'Healthy' | 'Unhealthy' | 'Unknown';

/** How much evidence changes the state. */
export interface HealthThresholds {
  /** If false, failures are counted, but no server is marked unhealthy. */
  readonly enabled: boolean;
  /** Consecutive failures that make a server Unhealthy. */
  readonly failureThreshold: number;
  /** Consecutive successes that make an Unhealthy server Healthy again. */
  readonly successThreshold: number;
}

/** Queries that another thread sent to a server, and their results. */
export interface FirstAnswers {
  /** Time of the last answer in milliseconds of the monotonic clock; -1 = never. */
  readonly lastAnswerMs: number;
  /** Changes since the last call. */
  takeNews(): FirstNews;
}

/** Number of queries and answers, and their latencies. */
export interface FirstNews {
  readonly asked: number;
  readonly answered: number;
  /** Number of queries that this server did not answer in time, but another server did. */
  readonly silent: number;
  /** Answers by `latencyClass()`, and the sum of their latencies. */
  readonly classes: readonly number[];
  readonly sumMs: number;
  /** The last latencies, oldest first. */
  readonly latenciesMs: readonly number[];
}

const WINDOW = 256;
const MICROSECONDS = 1000;
/** Share of a new sample in the smoothed latency. */
const SMOOTHING = 0.2;

/** One upstream's record. */
export class Health {
  status: HealthStatus = 'Unknown';
  /** Queries sent to the server for clients, and those without a good answer; neither includes probes. */
  queries = 0;
  failures = 0;
  consecutiveFailures = 0;
  /** The last failure, doubt or fault; kept after recovery. */
  lastError: string | null = null;
  /**
   * Smoothed latency in milliseconds, exponentially weighted; 0 until measured. A missing answer counts as a slow
   * answer.
   */
  smoothedLatencyMs = 0;
  /**
   * Whether the server is unusually late with an answer and has not answered since; other servers are then queried
   * first.
   */
  isSuspect = false;
  /** Called when the server becomes suspect; null = no probes. */
  onSuspect: (() => void) | null = null;
  /** Queries that the worker's answer thread sends to the server; null = none. */
  first: FirstAnswers | null = null;
  /** Monotonic milliseconds until which the server is assumed to remove DNSSEC signatures; 0 = not assumed. */
  removesSignaturesUntilMs = 0;

  private readonly thresholds: HealthThresholds;
  private readonly onChange: (status: HealthStatus) => void;
  private readonly estimate = new LatencyEstimate();
  private readonly samples = new Float64Array(WINDOW);
  private sampleCount = 0;
  /** Answers by class of latency, and the sum of all latencies. */
  private readonly classes = new Float64Array(LATENCY_CLASSES);
  private sumMs = 0;
  private successes = 0;
  private lastOwnAnswerMs = -1;

  /** `onChange` is called for every new status, after `lastError` is set. */
  constructor(thresholds: HealthThresholds, onChange: (status: HealthStatus) => void) {
    this.thresholds = thresholds;
    this.onChange = onChange;
  }

  /** The status for display: a server that has failed and never answered counts as unhealthy before the threshold. */
  get shownStatus(): HealthStatus {
    return this.status === 'Unknown' && this.consecutiveFailures > 0 ? 'Unhealthy' : this.status;
  }

  /** When the server last answered anything, in monotonic milliseconds; -1 = never. */
  get lastAnswerMs(): number {
    return Math.max(this.lastOwnAnswerMs, this.first?.lastAnswerMs ?? -1);
  }

  /** Milliseconds within which almost all answers arrive; 0 = unknown. */
  get usualLatencyMs(): number {
    return this.estimate.usualMs;
  }

  /** Average latency in milliseconds, weighted towards recent answers; 0 = unknown. */
  get meanLatencyMs(): number {
    return this.estimate.meanMs;
  }

  /** Records an answer, whatever its response code. */
  recordLatency(latencyMs: number, nowMs: number): void {
    this.lastOwnAnswerMs = nowMs;
    this.classes[latencyClass(latencyMs * MICROSECONDS)]!++;
    this.sumMs += latencyMs;
    this.noteLatency(latencyMs);
  }

  /** Adds the answer thread's queries and answers since the last call. */
  takeFirst(): void {
    const news = this.first?.takeNews();
    if (news === undefined) return;
    this.queries += news.asked;
    if (news.answered === 0) {
      if (news.silent > 0) this.recordSilence(this.smoothedLatencyMs);
      return;
    }
    news.classes.forEach((answers, index) => (this.classes[index]! += answers));
    this.sumMs += news.sumMs;
    for (const latencyMs of news.latenciesMs) this.noteLatency(latencyMs);
    this.recordSuccess();
  }

  /** Records a good answer. */
  recordSuccess(): void {
    this.consecutiveFailures = 0;
    this.successes++;
    if (this.status === 'Unhealthy' && this.successes < this.thresholds.successThreshold) return;
    this.change('Healthy');
  }

  /** Records an unusable response code that may be correct; it does not count against the server. */
  recordDoubt(detail: string): void {
    this.lastError = detail;
  }

  /** Records a silence after which another server is queried; this does not yet prove a fault. */
  recordSilence(waitedMs: number): void {
    this.takeFirst();
    this.smooth(Math.max(waitedMs, this.smoothedLatencyMs));
    if (this.isSuspect) return;
    this.isSuspect = true;
    this.onSuspect?.();
  }

  /** Records proof of a fault. After silence, `waitedMs` is a lower bound of the latency. */
  recordFault(detail: string, waitedMs = 0): void {
    // Answers before the fault must not count as a recovery.
    this.takeFirst();
    this.lastError = detail;
    if (waitedMs > 0) this.smooth(Math.max(waitedMs, this.smoothedLatencyMs));
    this.successes = 0;
    this.consecutiveFailures++;
    if (this.thresholds.enabled && this.consecutiveFailures >= this.thresholds.failureThreshold) {
      this.change('Unhealthy');
    }
  }

  /** Latencies of up to 256 recent answers, in milliseconds, in no particular order. */
  latencies(): Float32Array {
    return Float32Array.from(this.samples.subarray(0, Math.min(this.sampleCount, WINDOW)));
  }

  /** All latencies so far, including probes. */
  latencyCounts(): LatencyCounts {
    return { counts: [...this.classes], sumMs: this.sumMs };
  }

  private change(status: HealthStatus): void {
    if (this.status === status) return;
    this.status = status;
    this.onChange(status);
  }

  private noteLatency(latencyMs: number): void {
    this.isSuspect = false;
    this.samples[this.sampleCount++ % WINDOW] = latencyMs;
    this.smooth(latencyMs);
    this.estimate.note(latencyMs);
  }

  private smooth(latencyMs: number): void {
    this.smoothedLatencyMs =
      this.smoothedLatencyMs === 0
        ? latencyMs
        : this.smoothedLatencyMs + SMOOTHING * (latencyMs - this.smoothedLatencyMs);
  }
}

/** Weight of a new sample in the mean, and in the deviation. */
const MEAN_SHARE = 1 / 8;
const DEVIATION_SHARE = 1 / 4;
const DEVIATIONS = 4;

/** A server's usual latency, from a smoothed mean and its deviation (RFC 6298 section 2); only answers count. */
export class LatencyEstimate {
  meanMs = 0;
  private deviationMs = 0;

  /** Milliseconds within which almost all answers arrive; 0 = unknown. */
  get usualMs(): number {
    return this.meanMs + DEVIATIONS * this.deviationMs;
  }

  note(latencyMs: number): void {
    if (this.usualMs === 0) {
      this.meanMs = latencyMs;
      this.deviationMs = latencyMs / 2;
      return;
    }
    this.deviationMs += DEVIATION_SHARE * (Math.abs(latencyMs - this.meanMs) - this.deviationMs);
    this.meanMs += MEAN_SHARE * (latencyMs - this.meanMs);
  }
}
