/** A worker that queries scripted servers, and clients that query the worker for new names. */
import { MissRing } from '../../../shared/memory/miss-ring.ts';
import type { PoolSettings, UpstreamSettings } from '../../../shared/policy/upstream-settings.ts';
import type { WorkerSettings } from '../../../shared/threads/messages.ts';
import { a, idOf, questionOf, response } from '../dns/built-messages.ts';
import { UdpClient } from '../dns/dns-client.ts';
import { RunningWorker } from './running-worker.ts';
import { snapshotOf } from './test-lists.ts';

/** Time-out of a question, milliseconds: the default of `dns.query_timeout_ms`. */
const QUERY_TIMEOUT_MS = 3000;

/** A worker with one pool and one client. */
export class AskedWorker {
  readonly worker: RunningWorker;
  private readonly client: UdpClient;
  private names = 0;

  private constructor(worker: RunningWorker, client: UdpClient) {
    this.worker = worker;
    this.client = client;
  }

  static async start(
    servers: readonly UpstreamSettings[],
    settings: Partial<WorkerSettings> = {},
    strategy: PoolSettings['strategy'] = 'Failover',
  ): Promise<AskedWorker> {
    const pools = [{ name: 'pool', strategy, priority: 1, servers }];
    const given = { pools, queryTimeoutMs: QUERY_TIMEOUT_MS, ...settings };
    const worker = await RunningWorker.start(snapshotOf([]), { settings: given });
    return new AskedWorker(worker, await UdpClient.open(worker.port));
  }

  /** Questions that the answer thread passed to the resolve thread. */
  get passedOn(): number {
    return Atomics.load(new Int32Array(this.worker.memory.missRing), MissRing.HEAD_WORD);
  }

  /** A name that was not queried before. */
  newName(): string {
    return `n${String(this.names++)}.example.org`;
  }

  /** Queries the address of a name; returns the address, or the response code if there is none. */
  async ask(name = this.newName()): Promise<unknown> {
    const reply = await this.client.ask(name, 'A');
    return reply.answers[0]?.data ?? reply.rcode;
  }

  /** Queries new names concurrently. */
  askMany(count: number): Promise<unknown[]> {
    return Promise.all(Array.from({ length: count }, () => this.ask()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.worker[Symbol.asyncDispose]();
  }
}

/** The address in valid answers. */
export const ADDRESS = '192.0.2.9';

/** Result of `askMany` if every question is answered. */
export function allAnswered(count: number): string[] {
  return Array<string>(count).fill(ADDRESS);
}

/** A valid answer to a query: A 192.0.2.9. */
export function goodAnswer(query: Uint8Array, ttlSecs = 300): Uint8Array {
  const record = a(Uint8Array.of(0xc0, 12), ADDRESS, ttlSecs);
  return response(questionOf(query), { id: idOf(query), answers: [record] });
}

/** A response to a query with these flags and no records. */
export function emptyAnswer(query: Uint8Array, flags: number): Uint8Array {
  return response(questionOf(query), { id: idOf(query), flags });
}
