/** Queries upstream servers once, in a thread that uses the code of the DNS threads. */
import { networkInterfaces } from 'node:os';
import { Worker } from 'node:worker_threads';
import { parseUpstream } from '../../../config/upstream-url.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { UpstreamSettings } from '../../../shared/policy/upstream-settings.ts';
import type {
  UpstreamTestAnswer,
  UpstreamTestStart,
  UpstreamTrial,
} from '../../../shared/threads/upstream-test-messages.ts';

const ENTRY = new URL('../../../dns-worker/threads/upstream-test-thread.ts', import.meta.url);
/** JavaScript heap of the thread, MiB. */
const HEAP_MIB = 64;
/** Time limit of each query in milliseconds: a user is waiting for the results. */
const TIMEOUT_MS = 2000;
/**
 * Time limit in milliseconds for starting the thread and for all queries. A query may fail only at its own time limit,
 * and another query may have to wait for it.
 */
const LIMIT_MS = 3 * TIMEOUT_MS + 5000;
/** Maximum number of servers that are tested; further servers count as untested. */
const MAX_SERVERS = 64;

/** Settings of a test. */
export interface UpstreamTestParts extends Pick<UpstreamTestStart, 'bootstrap' | 'extraCa'> {
  /** Port on which this node answers DNS queries. A server with this port on this machine would be the node itself. */
  readonly dnsPort: number;
}

/**
 * For each of these servers (as written in the configuration): the reason why it cannot be used; null = it has
 * answered.
 */
export async function testUpstreams(
  servers: readonly string[],
  parts: UpstreamTestParts,
  gone?: AbortSignal,
): Promise<ReadonlyMap<string, string | null>> {
  const trials = await tryUpstreams(servers, { ...parts, asksSignatures: false }, gone);
  return new Map([...trials].map(([address, { fault }]) => [address, fault]));
}

/** Tests each of these servers. If `gone` is aborted, the test ends and throws the reason of the signal. */
export async function tryUpstreams(
  servers: readonly string[],
  { dnsPort, ...parts }: UpstreamTestParts & Pick<UpstreamTestStart, 'asksSignatures'>,
  gone?: AbortSignal,
): Promise<ReadonlyMap<string, UpstreamTrial>> {
  const trials = new Map<string, UpstreamTrial>();
  const asked: UpstreamSettings[] = [];
  for (const address of new Set(servers)) {
    const server = parseUpstream(address);
    if (server === undefined) trials.set(address, untried('it is not an upstream server'));
    else if (isOwn(server, dnsPort)) trials.set(address, untried('it is this server: queries would loop'));
    else if (asked.length === MAX_SERVERS) trials.set(address, untried('not tested'));
    else asked.push(server);
  }
  if (asked.length === 0) return trials;
  const answers = await askThread({ ...parts, servers: asked, timeoutMs: TIMEOUT_MS }, gone);
  for (const [index, { address }] of asked.entries())
    trials.set(address, answers[index] ?? untried('not tested'));
  return trials;
}

function untried(fault: string): UpstreamTrial {
  return { fault, isReachable: false, latencyMs: null, signatures: null };
}

async function askThread(
  start: UpstreamTestStart,
  gone: AbortSignal | undefined,
): Promise<UpstreamTestAnswer> {
  gone?.throwIfAborted();
  const worker = new Worker(ENTRY, {
    name: 'upstream-test',
    workerData: start,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  const { promise, resolve } = Promise.withResolvers<UpstreamTestAnswer>();
  const allFail = (reason: string): void => resolve(start.servers.map(() => untried(reason)));
  const timer = setTimeout(() => allFail('not tested: the test took too long'), LIMIT_MS);
  const leave = (): void => allFail('not tested: the client disconnected');
  gone?.addEventListener('abort', leave);
  worker.once('message', resolve);
  worker.once('error', (error: unknown) => allFail(`not tested: ${reasonOf(error)}`));
  worker.once('exit', () => allFail('not tested: the thread ended'));
  try {
    const answers = await promise;
    gone?.throwIfAborted();
    return answers;
  } finally {
    clearTimeout(timer);
    gone?.removeEventListener('abort', leave);
    await worker.terminate();
  }
}

/** Whether this node itself answers DNS queries at the address and port of a server. */
function isOwn({ transport, host, port }: UpstreamSettings, dnsPort: number): boolean {
  if (port !== dnsPort || (transport !== 'udp' && transport !== 'tcp')) return false;
  const own = Object.values(networkInterfaces()).flatMap((of) => (of ?? []).map(({ address }) => address));
  return host === 'localhost' || host.startsWith('127.') || own.includes(host);
}
