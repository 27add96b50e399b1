/**
 * Entry point of the thread that tests upstream servers before they are used, with the code that queries upstreams. It
 * queries only names of the root, which every resolver has in its cache. The control plane ends the thread when it has
 * the result.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../shared/clock.ts';
import { RRType, rcodeName } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import type { UpstreamSettings } from '../../shared/policy/upstream-settings.ts';
import type {
  SignatureFinding,
  UpstreamTestAnswer,
  UpstreamTestStart,
  UpstreamTrial,
} from '../../shared/threads/upstream-test-messages.ts';
import { ROOT_SERVERS } from '../resolve/probe.ts';
import { type Question, type Resolution, Resolver } from '../resolve/resolver.ts';
import { hasSignature } from '../resolve/signature-check.ts';

const port = parentPort;
if (port === null)
  throw new Error('could not start the upstream test: this file runs only as a worker thread');

/** A logger that discards everything, because the result contains all findings. */
const SILENT: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => SILENT,
};

/** A question whose answer is signed, and small enough for a datagram. */
const SIGNED_ROOT: Question = { ...ROOT_SERVERS, qtype: RRType.SOA, dnssecOk: true };

const start = workerData as UpstreamTestStart;
const answers: UpstreamTestAnswer = await Promise.all(start.servers.map(tryServer));
port.postMessage(answers);

/** Queries one server twice: the second time does not include opening the connection. */
async function tryServer(server: UpstreamSettings): Promise<UpstreamTrial> {
  const resolver = resolverOf(server);
  const first = await timed(resolver, ROOT_SERVERS);
  if (first.resolution.kind === 'failed') {
    const { reason, rcode } = first.resolution;
    const isCode = reason === 'servfail' || reason === 'refused';
    const fault = isCode ? rcodeName(rcode) : (resolver.report()[0]?.lastError ?? reason);
    return { fault, isReachable: isCode || reason === 'unusable', latencyMs: null, signatures: null };
  }
  const answered = { fault: null, isReachable: true };
  if (!start.asksSignatures) return { ...answered, latencyMs: first.tookMs, signatures: null };
  const signed = await timed(resolver, SIGNED_ROOT);
  const again = await timed(resolver, ROOT_SERVERS);
  const later = [signed, again].filter(({ resolution }) => resolution.kind === 'answer');
  const latencyMs = later.length === 0 ? first.tookMs : Math.min(...later.map(({ tookMs }) => tookMs));
  return { ...answered, latencyMs, signatures: signaturesIn(signed.resolution) };
}

function resolverOf(server: UpstreamSettings): Resolver {
  const { timeoutMs, bootstrap, extraCa } = start;
  const pool = { name: 'test', strategy: 'Failover', priority: 1, servers: [server] } as const;
  const healthCheck = {
    enabled: false,
    intervalSecs: 60,
    timeoutMs,
    failureThreshold: 1,
    successThreshold: 1,
  };
  return new Resolver(
    {
      pools: [pool],
      queryTimeoutMs: timeoutMs,
      bootstrap,
      ...(extraCa === undefined ? {} : { extraCa }),
      healthCheck,
    },
    systemClock,
    SILENT,
  );
}

async function timed(
  resolver: Resolver,
  question: Question,
): Promise<{ readonly resolution: Resolution; readonly tookMs: number }> {
  const { promise, resolve } = Promise.withResolvers<Resolution>();
  const startMs = systemClock.monotonicMs();
  resolver.resolve(question, resolve);
  const resolution = await promise;
  return { resolution, tookMs: systemClock.monotonicMs() - startMs };
}

/** The root is signed, so if an answer has no signatures, a server has removed them. */
function signaturesIn(resolution: Resolution): SignatureFinding {
  if (resolution.kind === 'failed') return null;
  if (!hasSignature(resolution.answer)) return 'unsigned';
  return resolution.answer.authenticated ? 'validates' : 'signed';
}
