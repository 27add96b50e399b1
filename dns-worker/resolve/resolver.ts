/**
 * The entry point of the slow path: takes a question that the cache could not answer, and returns an answer that can be
 * cached, or a typed failure. `node-flights.ts` joins identical questions and limits their number. The caller decides
 * which question to resolve, what to cache, and what to reply.
 */
import type { Clock } from '../../shared/clock.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import { DEFAULT_HARDENING, type HardeningSettings } from '../../shared/policy/hardening-settings.ts';
import type { UpstreamReport, WorkerSettings } from '../../shared/threads/messages.ts';
import { Capabilities } from './capability/capabilities.ts';
import { Bootstrap } from './bootstrap/bootstrap.ts';
import { FirstServerWriter } from './first-server-writer.ts';
import { LateAnswers } from './late-answers.ts';
import { LoopCheck } from './loop-check.ts';
import { Pool, planWaves } from './pool.ts';
import { Probe, PUBLIC_NAME, ROOT_SERVERS } from './probe.ts';
import { errorDetail } from './transport/exchange.ts';
import type { Question } from './response/question.ts';
import type { Resolution } from './resolution.ts';
import { QuestionRun } from './question-run.ts';
import { SignatureCheck } from './signature-check.ts';
import { Upstream } from './upstream.ts';
import { WakeGroups } from './wake-groups.ts';

export type { Question } from './response/question.ts';
export type { Failed, Resolution } from './resolution.ts';
export type { CacheableAnswer } from './response/response-reader.ts';

/** Settings that the resolver uses. */
export type ResolverSettings = Pick<
  WorkerSettings,
  'pools' | 'queryTimeoutMs' | 'bootstrap' | 'healthCheck' | 'extraCa'
> & {
  /** Modes of both features; `auto` by default. */
  readonly hardening?: HardeningSettings;
  /** Question of probes; by default the name servers of the root, and a public name for capabilities. */
  readonly probe?: Question;
  /** The forward zone of the servers, in wire form; absent = the servers belong to the pools. */
  readonly zone?: Uint8Array;
};

/** Resolves through the pools of its settings; other settings need another resolver. */
export class Resolver {
  private readonly settings: ResolverSettings;
  private readonly clock: Clock;
  private readonly bootstrap: Bootstrap;
  private readonly upstreams: readonly Upstream[];
  private readonly pools: readonly Pool[];
  private readonly probes: readonly Probe[];
  private readonly signatureChecks: readonly SignatureCheck[];
  private readonly loops: LoopCheck | null;
  private readonly logger: Logger;
  private readonly timing: { readonly clock: Clock; readonly timeoutMs: number; readonly wakes: WakeGroups };
  private readonly runs = new Set<QuestionRun>();
  private readonly late: LateAnswers;
  /** Writes the servers that the answer thread queries first. */
  private readonly first: FirstServerWriter | null;
  private closed = false;

  /**
   * `records` are shared by all threads of the node. The worker's answer thread may query the servers in `firstServers`
   * itself; null = it queries no servers.
   */
  constructor(
    settings: ResolverSettings,
    clock: Clock,
    logger: Logger,
    records = new Capabilities(clock),
    firstServers: SharedArrayBuffer | null = null,
  ) {
    this.settings = settings;
    this.clock = clock;
    this.logger = logger;
    this.timing = { clock, timeoutMs: settings.queryTimeoutMs, wakes: new WakeGroups(clock) };
    this.bootstrap = new Bootstrap(settings.bootstrap, clock);
    this.late = new LateAnswers(clock);
    const upstreams: Upstream[] = [];
    this.pools = settings.pools
      .map((pool) => {
        const parts = {
          bootstrap: this.bootstrap,
          clock,
          logger,
          thresholds: settings.healthCheck,
          extraCa: settings.extraCa ?? [],
          capabilities: {
            records,
            hardening: settings.hardening ?? DEFAULT_HARDENING,
            probe: settings.probe ?? PUBLIC_NAME,
            isZone: settings.zone !== undefined,
          },
        };
        const servers = pool.servers.map((server) => {
          const index = server.number ?? upstreams.length;
          const place = { index, poolName: pool.name, strategy: pool.strategy };
          const upstream = new Upstream(place, server, parts);
          upstreams.push(upstream);
          return upstream;
        });
        return new Pool(pool.name, pool.strategy, pool.priority, servers);
      })
      .sort((a, b) => a.priority - b.priority);
    this.upstreams = upstreams;
    this.first =
      firstServers === null ? null : new FirstServerWriter(firstServers, this.pools, settings.queryTimeoutMs);
    this.first?.publish();
    const { healthCheck, zone = null } = settings;
    this.probes = healthCheck.enabled ? this.probe(upstreams) : [];
    this.loops = healthCheck.enabled ? new LoopCheck(upstreams, zone, healthCheck, logger) : null;
    this.signatureChecks = upstreams.map((upstream) => new SignatureCheck(upstream, clock, logger));
  }

  /** Resolves; `done` is called exactly once, after `resolve` has returned. Never throws. */
  resolve(question: Question, done: (resolution: Resolution) => void): void {
    if (this.closed) {
      queueMicrotask(() => done(failed('network')));
      return;
    }
    try {
      // A late answer may come from a server that this question avoids.
      const isAvoiding = question.avoided !== undefined && question.avoided.size > 0;
      const late = isAvoiding ? null : this.late.take(question);
      if (late !== null) {
        queueMicrotask(() => done(late));
        return;
      }
      const waves = planWaves(this.pools, this.clock.monotonicMs(), question.avoided);
      if (waves.length === 0) queueMicrotask(() => done(failed('no-upstreams')));
      else this.run(question, waves, done);
    } catch (error) {
      this.logger.error('could not query an upstream', { error: errorDetail(error) });
      queueMicrotask(() => done(failed('servfail')));
    }
  }

  private run(
    question: Question,
    waves: readonly (readonly Upstream[])[],
    done: (resolution: Resolution) => void,
  ): void {
    const run = new QuestionRun(question, waves, this.timing, (resolution) => {
      this.runs.delete(run);
      this.first?.publish();
      if (resolution.kind === 'failed' && run.isOpen) this.late.listen(question, run, resolution);
      done(resolution);
    });
    run.start();
    this.runs.add(run);
  }

  /**
   * Checks whether a server removes signatures, after records from it failed validation; `zone` has a trust anchor and
   * is in lower-case wire form.
   */
  checkSignatures(index: number, zone: Uint8Array): void {
    if (this.closed) return;
    const at = this.upstreams.findIndex((upstream) => upstream.index === index);
    this.signatureChecks[at]?.run(zone);
  }

  /** Number of questions in flight. */
  get inFlight(): number {
    return this.runs.size;
  }

  /**
   * The state of every upstream, in the order of the settings. Call this method every second: it also updates the
   * servers of the answer thread.
   */
  report(): UpstreamReport[] {
    this.first?.takeNews();
    this.first?.publish();
    return this.upstreams.map((upstream) => {
      const report = upstream.report();
      return this.loops?.mark(upstream, report) ?? report;
    });
  }

  /** Reports that a client has queried the name that detects forwarding loops. */
  noteLoop(token: string, client: string): void {
    this.loops?.note(token, client);
  }

  /** Stops probing; call `close` when the questions in flight have ended. */
  retire(): void {
    for (const probe of this.probes) probe.close();
    for (const check of this.signatureChecks) check.close();
    this.loops?.close();
    this.first?.close();
  }

  /** Fails questions in flight and closes every socket. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.retire();
    for (const run of [...this.runs]) run.cancel();
    this.late.close();
    this.bootstrap.close();
    for (const upstream of this.upstreams) upstream.close();
    // Sockets report that they are closed one turn later.
    await new Promise((resolve) => setImmediate(resolve));
  }

  private probe(upstreams: readonly Upstream[]): readonly Probe[] {
    const { probe = ROOT_SERVERS, healthCheck } = this.settings;
    return upstreams.map((upstream) => new Probe(upstream, probe, healthCheck, this.clock));
  }
}

function failed(reason: 'network' | 'no-upstreams' | 'servfail'): Resolution {
  return { kind: 'failed', reason, rcode: Rcode.SERVFAIL, upstream: -1 };
}
