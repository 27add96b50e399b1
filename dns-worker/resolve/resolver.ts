/**
 * The slow path's entrance: a question that the cache could not answer goes in, an answer fit for the
 * cache or a typed failure comes out. Identical questions share one run; how many may be under way is
 * bounded. What is asked, cached or replied is the caller's business.
 */
import type { Clock } from '../../shared/clock.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import type { UpstreamReport, WorkerSettings } from '../../shared/threads/messages.ts';
import { Bootstrap } from './transport/bootstrap.ts';
import { InFlight } from './in-flight.ts';
import { Pool, planWaves } from './pool.ts';
import { Probe, ROOT_SERVERS } from './probe.ts';
import { errorDetail } from './transport/exchange.ts';
import type { QuestionClaims, Release } from './question-claims.ts';
import { claimKey } from './question-claims.ts';
import type { Question } from './response/question.ts';
import { questionKey } from './response/question.ts';
import type { Resolution } from './question-run.ts';
import { QuestionRun } from './question-run.ts';
import { Upstream } from './upstream.ts';

export type { Question } from './response/question.ts';
export type { Resolution } from './question-run.ts';
export type { CacheableAnswer } from './response/response-reader.ts';

/** What the resolver takes from the settings. */
export type ResolverSettings = Pick<
  WorkerSettings,
  'pools' | 'queryTimeoutMs' | 'bootstrap' | 'healthCheck' | 'extraCa'
> & {
  /** What health probes ask; the name servers of the root unless given. */
  readonly probe?: Question;
};

/** What a resolver has with those of other threads. */
export interface NodeShare {
  readonly claims: QuestionClaims;
  /** Part of the cache that its answers belong to. */
  readonly partition: number;
}

const NOTHING_TO_RELEASE: Release = () => undefined;

/** Resolves through the pools of its settings; for other settings make another one. */
export class Resolver {
  readonly #settings: ResolverSettings;
  readonly #clock: Clock;
  readonly #bootstrap: Bootstrap;
  readonly #upstreams: readonly Upstream[];
  readonly #pools: readonly Pool[];
  readonly #probes: readonly Probe[];
  readonly #inFlight: InFlight<Resolution>;
  readonly #logger: Logger;
  readonly #node: NodeShare | null;
  readonly #runs = new Map<string, { readonly run: QuestionRun; readonly release: Release }>();
  #closed = false;

  /** `node`: where other threads ask, too; null = this one is alone. */
  constructor(settings: ResolverSettings, clock: Clock, logger: Logger, node: NodeShare | null = null) {
    this.#settings = settings;
    this.#clock = clock;
    this.#logger = logger;
    this.#node = node;
    this.#inFlight = new InFlight(logger);
    this.#bootstrap = new Bootstrap(settings.bootstrap, clock);
    const upstreams: Upstream[] = [];
    this.#pools = settings.pools
      .map((pool) => {
        const parts = {
          bootstrap: this.#bootstrap,
          clock,
          logger,
          thresholds: settings.healthCheck,
          extraCa: settings.extraCa ?? [],
        };
        const servers = pool.servers.map((server) => {
          const place = { index: upstreams.length, poolName: pool.name, strategy: pool.strategy };
          const upstream = new Upstream(place, server, parts);
          upstreams.push(upstream);
          return upstream;
        });
        return new Pool(pool.name, pool.strategy, pool.priority, servers);
      })
      .sort((a, b) => a.priority - b.priority);
    this.#upstreams = upstreams;
    this.#probes = settings.healthCheck.enabled ? this.#probe(upstreams) : [];
  }

  /** Resolves; `done` is called exactly once, never before this has returned. */
  resolve(question: Question, done: (resolution: Resolution) => void): void {
    const key = questionKey(question);
    const refusal = this.#refusal(key);
    if (refusal !== null) {
      queueMicrotask(() => done({ kind: 'failed', reason: refusal, rcode: Rcode.SERVFAIL, upstream: -1 }));
      return;
    }
    if (!this.#inFlight.join(key, done)) return;
    const node = this.#node;
    if (node === null) this.#run(key, question, this.#settings.queryTimeoutMs, NOTHING_TO_RELEASE);
    else void this.#runInTurn(key, question, node.claims, claimKey(node.partition, question));
  }

  /** Runs the question once no other thread has it under way; what those found is not known here. */
  async #runInTurn(key: string, question: Question, claims: QuestionClaims, claimed: string): Promise<void> {
    const deadlineMs = this.#clock.monotonicMs() + this.#settings.queryTimeoutMs;
    for (let leftMs = this.#settings.queryTimeoutMs; leftMs > 0;) {
      const claim = claims.claim(claimed);
      if (claim.isMine) {
        this.#run(key, question, leftMs, claim.release);
        return;
      }
      await claim.ended(leftMs);
      // Those who waited were told.
      if (this.#closed) return;
      leftMs = deadlineMs - this.#clock.monotonicMs();
    }
    this.#inFlight.settle(key, { kind: 'failed', reason: 'timeout', rcode: Rcode.SERVFAIL, upstream: -1 });
  }

  #run(key: string, question: Question, timeoutMs: number, release: Release): void {
    const timing = { clock: this.#clock, timeoutMs };
    const end = (resolution: Resolution): void => {
      this.#runs.delete(key);
      // First: who is told may ask the same again.
      release();
      this.#inFlight.settle(key, resolution);
    };
    try {
      const waves = planWaves(this.#pools);
      if (waves.length === 0) {
        queueMicrotask(() =>
          end({ kind: 'failed', reason: 'no-upstreams', rcode: Rcode.SERVFAIL, upstream: -1 }),
        );
        return;
      }
      const run = new QuestionRun(question, waves, timing, end);
      this.#runs.set(key, { run, release });
      run.start();
    } catch (error) {
      this.#logger.error('ask an upstream failed', { error: errorDetail(error) });
      end({ kind: 'failed', reason: 'servfail', rcode: Rcode.SERVFAIL, upstream: -1 });
    }
  }

  /** Distinct questions under way. */
  get inFlight(): number {
    return this.#inFlight.questions;
  }

  /** The state of every upstream, in the order of `Resolution.upstream`. */
  report(): UpstreamReport[] {
    return this.#upstreams.map((upstream) => upstream.report());
  }

  /** The configured text of an upstream; '' for an index that is none. */
  upstreamAddress(index: number): string {
    return this.#upstreams[index]?.settings.address ?? '';
  }

  /** Fails what is under way and closes every socket. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const probe of this.#probes) probe.close();
    for (const { run, release } of this.#runs.values()) {
      run.cancel();
      release();
    }
    this.#runs.clear();
    for (const key of this.#inFlight.keys()) {
      this.#inFlight.settle(key, { kind: 'failed', reason: 'network', rcode: Rcode.SERVFAIL, upstream: -1 });
    }
    this.#bootstrap.close();
    for (const upstream of this.#upstreams) upstream.close();
    // Sockets report their end a turn later.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #probe(upstreams: readonly Upstream[]): readonly Probe[] {
    const { probe = ROOT_SERVERS, healthCheck } = this.#settings;
    return upstreams.map((upstream) => new Probe(upstream, probe, healthCheck, this.#clock));
  }

  #refusal(key: string): 'network' | 'overloaded' | null {
    if (this.#closed) return 'network';
    return this.#inFlight.admits(key) ? null : 'overloaded';
  }
}
