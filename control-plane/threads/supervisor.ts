/**
 * Keeps the DNS threads alive and on the newest snapshot. A thread that dies or hangs is counted and immediately
 * replaced, while the other threads continue; its replacement gets its sockets, counters and log ring. Snapshots and
 * settings are delivered by `thread-deliveries.ts`, requests to threads by `thread-requests.ts`.
 */
import { availableParallelism } from 'node:os';
import type { Logger } from '../../shared/log.ts';
import { NodeState, WorkerControl } from '../../shared/threads/messages.ts';
import type {
  Fault,
  FromWorker,
  NodeStateCode,
  ServedCertificate,
  ThreadMeasures,
  ThreadRole,
  UpstreamReports,
  WorkerMemory,
  WorkerSettings,
} from '../../shared/threads/messages.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import type { TrustAnchor } from '../../shared/dns/trust-anchors.ts';
import { DnsListenError } from './dns-port.ts';
import { DnsThread } from './dns-thread.ts';
import { Events } from './events.ts';
import { closeLeftSockets } from './left-sockets.ts';
import { NodeMemory } from './node-memory.ts';
import { ThreadDeliveries } from './thread-deliveries.ts';
import { ThreadRequests } from './thread-requests.ts';
import { type DnsWorker, isAnswering } from './dns-worker.ts';
import { createWorkerMemory } from './worker-memory.ts';

export interface SupervisorOptions {
  /** Number of workers; 0 = one per CPU core. */
  readonly workers: number;
  readonly settings: WorkerSettings;
  readonly cache: SharedArrayBuffer;
  /** The current cluster secret. */
  readonly secret: () => Uint8Array;
  readonly snapshot: SnapshotBuffers;
  /** State of the node, which is set before a thread starts, because the first query may come from another machine. */
  readonly nodeState?: NodeStateCode;
  /** Certificate of encrypted DNS; null without encrypted DNS. */
  readonly certificate?: ServedCertificate | null;
  readonly logger: Logger;
  /** Maximum wait of `broadcast()` in milliseconds. */
  readonly snapshotWaitMs?: number;
  /** Called with the memory of all workers before their threads start; may add sockets of another process. */
  readonly equip?: (memories: readonly WorkerMemory[]) => void;
  /** Whether another process shares the sockets: no datagram is read until all threads that it may need run. */
  readonly sharesSockets?: boolean;
}

/** If a thread dies sooner after its start, it is restarted after a pause; both in milliseconds. */
const QUICK_DEATH_MS = 1000;
const RESTART_PAUSE_MS = 500;
/** Milliseconds between two checks of heartbeats. An idle thread sends a heartbeat every second. */
const HEARTBEAT_MS = 1000;
/** Maximum milliseconds to wait for all threads: more than for the longest query, but less than 5 s. */
const DRAIN_MS = 3500;
/** Milliseconds of `DRAIN_MS` that are reserved for terminating the remaining threads. */
const TERMINATE_MS = 100;

/** The DNS threads of this node. */
export class WorkerSupervisor {
  private readonly options: SupervisorOptions;
  private readonly workers: DnsWorker[] = [];
  private readonly memory: NodeMemory;
  private readonly deliveries: ThreadDeliveries;
  private certificate: ServedCertificate | null;
  private stopping = false;
  private outlives = false;
  private heartbeats: NodeJS.Timeout | undefined;
  /** Reports every event of a thread. */
  private readonly events = new Events();
  /** Reason why `start` cannot succeed: a port is unavailable, or threads die when they start. */
  private startFailure: Error | undefined;
  private hasStarted = false;
  private restartCount = 0;
  /** Requests to threads. */
  readonly requests = new ThreadRequests((message) => {
    const isReady = ({ start, backend }: DnsThread): boolean => start.role === 'resolve' && backend !== null;
    const thread = this.threads().find(isReady);
    thread?.post(message);
    return thread !== undefined;
  });

  constructor(options: SupervisorOptions) {
    const workerCount = options.workers === 0 ? availableParallelism() : options.workers;
    this.memory = new NodeMemory(workerCount, options.cache, options.secret);
    this.options = options;
    this.certificate = options.certificate ?? null;
    this.deliveries = new ThreadDeliveries({
      ...options,
      memory: this.memory,
      threads: () => this.threads(),
      events: this.events,
      waitMs: options.snapshotWaitMs,
    });
    for (let index = 0; index < workerCount; index++)
      this.workers.push({
        memory: createWorkerMemory(),
        threads: new Map(),
        upstreams: { pools: [], zones: [] },
      });
    this.setNodeState(options.nodeState ?? NodeState.HOLDING);
  }

  /** Starts all workers; rejects with a DnsListenError if a port is unavailable, or another error if threads die. */
  async start(): Promise<void> {
    // A signal may already have stopped the node; threads that start now would keep the process alive.
    if (this.isStopping()) return;
    this.options.equip?.(this.memories());
    for (const index of this.workers.keys()) this.startThread(index, 'resolve');
    await this.events.until(
      () => this.startFailure !== undefined || this.workers.every((worker) => isAnswering(worker)),
    );
    if (this.startFailure !== undefined) {
      // Queries that the threads have already read are answered first.
      await this.drain();
      throw this.startFailure;
    }
    this.hasStarted = true;
    this.startHeartbeats();
  }

  /** See `Delivery.deliver`. */
  broadcast(snapshot: SnapshotBuffers): Promise<number> {
    return this.deliveries.deliverSnapshot(snapshot);
  }

  /** Delivers settings. Settings of sockets are not applied until a restart. */
  useSettings(settings: WorkerSettings): Promise<number> {
    return this.deliveries.deliverSettings(settings);
  }

  /**
   * Lets every thread finish its pending queries, as far as time permits, and ends it. With `keepSockets`, the sockets
   * stay open and queue new queries for another process or for `readAgain()`.
   */
  async drain(withinMs = DRAIN_MS, keepSockets = false): Promise<void> {
    if (this.outlives && !keepSockets) return;
    this.stopping = true;
    clearInterval(this.heartbeats);
    const waitMs = Math.max(0, Math.min(withinMs - TERMINATE_MS, DRAIN_MS));
    const untilMs = performance.now() + waitMs;
    const deadline = new Promise<void>((resolve) => setTimeout(resolve, waitMs).unref());
    const ended = (role: ThreadRole): Promise<void> => {
      const leftMs = untilMs - performance.now();
      if (this.isStopping())
        for (const worker of this.workers) worker.threads.get(role)?.drain(keepSockets, leftMs);
      return this.events.until(
        () => !this.isStopping() || this.threads().every((thread) => thread.start.role !== role),
      );
    };
    // The answer threads end first, because the resolve threads answer the queries that remain in the rings.
    await Promise.race([ended('answer').then(() => ended('resolve')), deadline]);
    if (this.isStopping()) await Promise.all(this.threads().map((thread) => thread.terminate()));
  }

  /** From now on, stopping the node does not end the threads, because another process uses their sockets. */
  outlive(): void {
    this.outlives = true;
  }

  /** Undoes a drain that kept the sockets. Resolves when all workers answer queries, or when they are drained again. */
  async readAgain(): Promise<void> {
    if (!this.stopping) return;
    this.stopping = false;
    this.startHeartbeats();
    this.events.happened();
    this.workers.forEach((worker, index) => {
      const resolve = worker.threads.get('resolve');
      if (resolve === undefined) this.startThread(index, 'resolve');
      else if (resolve.backend === 'batch' && !worker.threads.has('answer'))
        this.startThread(index, 'answer');
    });
    await this.events.until(() => this.isStopping() || this.workers.every((worker) => isAnswering(worker)));
  }

  /** Memory of each worker, for reading log rings and counters. */
  memories(): readonly WorkerMemory[] {
    return this.workers.map((worker) => worker.memory);
  }

  /** The table of stream connections, for counting them: `shared/memory/connection-table.ts`. */
  connections(): SharedArrayBuffer {
    return this.memory.buffers.connections;
  }

  /** The last report of each worker about its upstreams. */
  upstreams(): readonly UpstreamReports[] {
    return this.workers.map((worker) => worker.upstreams);
  }

  /** Number of workers that answer queries, of configured workers, and of replaced threads. */
  state(): { answering: number; workers: number; restarts: number; backend: 'batch' | 'dgram' | null } {
    const backend = this.workers[0]?.threads.get('resolve')?.backend ?? null;
    return {
      answering: this.workers.filter((worker) => isAnswering(worker)).length,
      workers: this.workers.length,
      restarts: this.restartCount,
      backend,
    };
  }

  /** For tests: heap figures of each thread; only with fault injection. */
  async measure(): Promise<readonly Readonly<Record<ThreadRole, ThreadMeasures | null>>[]> {
    for (const thread of this.threads()) {
      thread.measures = null;
      thread.post({ type: 'measure' });
    }
    await this.events.until(() => this.threads().every(({ measures }) => measures !== null));
    return this.workers.map(({ threads }) => ({
      answer: threads.get('answer')?.measures ?? null,
      resolve: threads.get('resolve')?.measures ?? null,
    }));
  }

  /** Makes all threads, including those that start later, validate with these trust anchors. */
  trust(anchors: readonly TrustAnchor[]): void {
    if (!this.deliveries.trust(anchors)) return;
    for (const thread of this.threads()) thread.post({ type: 'trust', anchors });
  }

  /** Reports a query for a name with which a thread checks an upstream for a forwarding loop. */
  reportLoop(token: string, client: string): void {
    for (const thread of this.threads())
      if (thread.start.role === 'resolve') thread.post({ type: 'loop', token, client });
  }

  /** Sets the answer to `status.weir`; a state that precedes the current one has no effect. */
  setNodeState(state: NodeStateCode): void {
    for (const { control } of this.memories()) {
      const words = new Int32Array(control);
      if (state > Atomics.load(words, WorkerControl.NODE_STATE_WORD))
        Atomics.store(words, WorkerControl.NODE_STATE_WORD, state);
    }
  }

  /** The state that was set last. */
  nodeState(): NodeStateCode {
    const [first] = this.memories();
    return Atomics.load(new Int32Array(first!.control), WorkerControl.NODE_STATE_WORD) as NodeStateCode;
  }

  /** All threads use this certificate for new connections. */
  useCertificate(certificate: ServedCertificate): void {
    this.certificate = certificate;
    for (const thread of this.threads())
      if (thread.start.role === 'resolve') thread.post({ type: 'certificate', certificate });
  }

  /** For tests: makes a thread die or hang; only with fault injection. */
  injectFault(index: number, role: ThreadRole, fault: Fault): void {
    this.workers[index]?.threads.get(role)?.post({ type: 'fault', fault });
  }

  private threads(): DnsThread[] {
    return this.workers.flatMap((worker) => [...worker.threads.values()]);
  }

  private startThread(index: number, role: ThreadRole): void {
    const worker = this.workers[index]!;
    const startedAtMs = performance.now();
    const thread = new DnsThread(
      {
        role,
        worker: index,
        asker: this.memory.askerOf(index, role),
        memory: worker.memory,
        ...this.memory.buffers,
        ...this.deliveries.newest(),
        certificate: role === 'resolve' ? this.certificate : null,
      },
      {
        message: (from, message) => this.onMessage(index, from, message),
        ended: (ended, exitCode, cause) => {
          worker.threads.delete(role);
          if (ended.isDraining) this.onDrained(index, role);
          else this.onEnded(index, role, exitCode, cause, performance.now() - startedAtMs);
        },
      },
    );
    worker.threads.set(role, thread);
  }

  private onMessage(index: number, thread: DnsThread, message: FromWorker): void {
    const worker = this.workers[index]!;
    switch (message.type) {
      case 'starting':
        if (message.backend === 'batch' && (this.hasStarted || this.options.sharesSockets !== true))
          this.startAnswering(index);
        break;
      case 'ready':
        if (thread.start.role === 'resolve') this.startAnsweringTogether();
        break;
      case 'snapshot-active':
        this.deliveries.catchUp(thread, 'snapshot');
        break;
      case 'settings-active':
        this.deliveries.catchUp(thread, 'settings');
        break;
      case 'upstreams':
        worker.upstreams = message.upstreams;
        break;
      case 'listen-failed':
        this.startFailure = new DnsListenError(message.address, message.port, message.code);
        void thread.terminate();
        break;
      case 'log':
        this.options.logger[message.level](message.message, message.fields);
        break;
      case 'explained':
      case 'trust-point':
      case 'asked':
        this.requests.take(message);
        break;
      case 'measures':
      case 'drained':
        break;
    }
    this.events.happened();
  }

  private startAnswering(index: number): void {
    const isRunning = this.workers[index]!.threads.has('answer');
    if (!isRunning && !this.stopping && this.startFailure === undefined) this.startThread(index, 'answer');
  }

  /** If another process still answers queries, starts the answer threads as soon as all resolve threads are running. */
  private startAnsweringTogether(): void {
    if (this.hasStarted || this.options.sharesSockets !== true) return;
    const resolvers = this.workers.map(({ threads }) => threads.get('resolve')?.backend ?? null);
    if (resolvers.every((backend) => backend === 'batch'))
      for (const index of this.workers.keys()) this.startAnswering(index);
  }

  private onDrained(index: number, role: ThreadRole): void {
    if (!this.stopping) this.startThread(index, role);
    this.events.happened();
  }

  private onEnded(
    index: number,
    role: ThreadRole,
    exitCode: number,
    cause: Error | undefined,
    livedMs: number,
  ): void {
    const worker = this.workers[index]!;
    if (!this.hasStarted && !this.stopping) {
      this.startFailure ??= new Error(
        `could not start a DNS thread: ${cause?.message ?? `it ended with ${exitCode}`}`,
        {
          cause,
        },
      );
    } else if (!this.stopping) {
      this.restartCount++;
      this.options.logger.error('replacing a DNS thread that died', {
        worker: index,
        role,
        exit_code: exitCode,
        cause: cause?.stack,
      });
      this.memory.release(index, role);
      if (role === 'answer') closeLeftSockets(worker.memory);
      const restart = (): void => {
        if (!this.stopping && !worker.threads.has(role)) this.startThread(index, role);
      };
      if (livedMs < QUICK_DEATH_MS) setTimeout(restart, RESTART_PAUSE_MS);
      else restart();
    }
    this.events.happened();
  }

  /** A method, because the value may change while a drain is awaited: a drain can be undone. */
  private isStopping(): boolean {
    return this.stopping;
  }

  private startHeartbeats(): void {
    this.heartbeats = setInterval(() => {
      this.memory.renewCookieKeys();
      this.checkHeartbeats();
    }, HEARTBEAT_MS);
  }

  /** Terminates threads whose loop hangs; when they have ended, they are replaced. */
  private checkHeartbeats(): void {
    for (const thread of this.threads()) {
      if (thread.backend === null || !thread.startsToHang()) continue;
      const { worker, role } = thread.start;
      this.options.logger.error('terminating a DNS thread that hangs', { worker, role });
      void thread.terminate();
    }
  }
}
