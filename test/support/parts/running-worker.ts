/**
 * The two threads of a worker, started as the supervisor does but without a supervisor, with real sockets on 127.0.0.1.
 */
import { DnsThread } from '../../../control-plane/threads/dns-thread.ts';
import { NodeMemory } from '../../../control-plane/threads/node-memory.ts';
import { createWorkerMemory } from '../../../control-plane/threads/worker-memory.ts';
import { createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import { DEFAULT_HARDENING } from '../../../shared/policy/hardening-settings.ts';
import type { SnapshotBuffers } from '../../../shared/snapshot/snapshot.ts';
import type {
  FromWorker,
  ServedCertificate,
  ThreadRole,
  ThreadStart,
  ToWorker,
  WorkerMemory,
  WorkerSettings,
} from '../../../shared/threads/messages.ts';
import { NodeState, WorkerControl } from '../../../shared/threads/messages.ts';
import type { ScriptedUpstream } from '../dns/scripted-upstream.ts';
import { freePort } from '../weir/free-ports.ts';
import { secretOfTests } from './cookies-of-tests.ts';
import { NO_IDENTITY } from '../../../dns-worker/policy/server-identity.ts';
import { rateLimitOf } from './test-rate-limit.ts';
import { until } from './until.ts';

/** Settings of a thread, with this upstream or without an upstream; all features are off except the cache. */
export function settingsOf(dnsPort: number, upstream: ScriptedUpstream | null): WorkerSettings {
  const servers =
    upstream === null
      ? []
      : [{ address: 'udp://upstream', transport: 'udp' as const, host: upstream.ip, port: upstream.port }];
  return {
    bindAddresses: ['127.0.0.1'],
    dnsPort,
    pools: [{ name: 'pool', strategy: 'Failover', priority: 1, servers }],
    queryTimeoutMs: 5000,
    bootstrap: [],
    healthCheck: {
      enabled: false,
      intervalSecs: 60,
      timeoutMs: 1000,
      failureThreshold: 3,
      successThreshold: 2,
    },
    cache: {
      enabled: true,
      minTtlSecs: 0,
      maxTtlSecs: 86_400,
      negativeMaxTtlSecs: 3600,
      serveStaleSecs: 0,
      optimisticRefresh: false,
    },
    dnssec: null,
    hardening: DEFAULT_HARDENING,
    clockFloorMs: 0,
    forwardsEcs: false,
    rateLimit: rateLimitOf({ enabled: false }),
    identity: NO_IDENTITY,
    tcpMaxConnectionsPerIp: 0,
    dotMaxConnectionsPerIp: 0,
    dotPort: null,
    dohPort: null,
    proxyProtocol: null,
    trustedProxies: [],
    coalesceUs: 0,
    udpBackend: 'auto',
    faultInjection: false,
  };
}

/** Memory that this many workers of a node share. */
export function createNodeMemory(workers: number): NodeMemory {
  return new NodeMemory(workers, createAnswerCache(0), secretOfTests);
}

/** A running worker, or one of its threads. */
export class RunningWorker {
  readonly port: number;
  readonly memory: WorkerMemory = createWorkerMemory();
  /** Messages of each thread, in order. */
  readonly messages: Record<ThreadRole, FromWorker[]> = { answer: [], resolve: [] };
  private readonly threads = new Map<ThreadRole, DnsThread>();

  private constructor(port: number) {
    this.port = port;
    new Int32Array(this.memory.control)[WorkerControl.NODE_STATE_WORD] = NodeState.READY;
  }

  /** Starts threads and waits until they are ready or have ended. */
  static async start(
    snapshot: SnapshotBuffers,
    options: {
      readonly roles?: readonly ThreadRole[];
      readonly upstream?: ScriptedUpstream;
      readonly settings?: Partial<WorkerSettings>;
      readonly certificate?: ServedCertificate;
      /** Memory of the node, and index of this worker in the node; without a node, the worker runs alone. */
      readonly node?: { readonly memory: NodeMemory; readonly worker: number };
    } = {},
  ): Promise<RunningWorker> {
    const { roles = ['resolve', 'answer'], upstream = null, settings = {}, certificate = null } = options;
    const worker = new RunningWorker(settings.dnsPort ?? (await freePort(['127.0.0.1'])));
    const { memory, worker: number } = options.node ?? { memory: createNodeMemory(1), worker: 0 };
    for (const role of roles)
      worker.startThread({
        role,
        worker: number,
        asker: memory.askerOf(number, role),
        certificate,
        given: {
          version: 0,
          settings: { ...settingsOf(worker.port, upstream), ...settings },
          rateBuckets: memory.rateBucketsFor(settings.rateLimit?.enabled === true),
        },
        memory: worker.memory,
        ...memory.buffers,
        snapshot,
      });
    await until(
      'the threads of a worker to be ready',
      () => roles.map((role) => ({ messages: worker.messages[role], hasEnded: worker.hasEnded(role) })),
      (threads) =>
        threads.every(({ messages, hasEnded }) => hasEnded || messages.some(({ type }) => type === 'ready')),
    );
    return worker;
  }

  /** Whether a thread has sent a message of this type. */
  hasReported(role: ThreadRole, type: FromWorker['type']): boolean {
    return this.messages[role].some((message) => message.type === type);
  }

  hasEnded(role: ThreadRole): boolean {
    return this.threads.get(role)!.ended;
  }

  post(role: ThreadRole, message: ToWorker): void {
    this.threads.get(role)!.post(message);
  }

  /**
   * Ends the threads in the order of a node: the answer thread first, because the resolve thread closes the sockets
   * that the answer thread reads from.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const role of ['answer', 'resolve'] as const) {
      const thread = this.threads.get(role);
      if (thread === undefined || thread.ended) continue;
      thread.drain(false, 3500);
      await until(
        `the ${role} thread of a worker to end`,
        () => ({ ended: thread.ended, messages: this.messages[role] }),
        ({ ended }) => ended,
      );
    }
  }

  private startThread(start: ThreadStart): void {
    const { role } = start;
    const events = {
      message: (_: DnsThread, message: FromWorker) => void this.messages[role].push(message),
      ended: () => undefined,
    };
    this.threads.set(role, new DnsThread(start, events));
  }
}
