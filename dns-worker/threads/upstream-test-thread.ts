/**
 * Entry of the thread that asks servers once, by the code that asks upstreams, before anyone relies on them. The
 * control plane ends the thread once it has the answer.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../shared/clock.ts';
import { rcodeName } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import type { UpstreamSettings } from '../../shared/policy/upstream-settings.ts';
import type { UpstreamTestAnswer, UpstreamTestStart } from '../../shared/threads/upstream-test-messages.ts';
import { ROOT_SERVERS } from '../resolve/probe.ts';
import { Resolver } from '../resolve/resolver.ts';

const port = parentPort;
if (port === null) throw new Error('start upstream test: this file runs only as a worker thread');

/** Nothing is logged: the answer says it all. */
const SILENT: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => SILENT,
};

const start = workerData as UpstreamTestStart;
const answers: UpstreamTestAnswer = await Promise.all(start.servers.map(faultOf));
port.postMessage(answers);

/** Why a server does not answer; null if it does. */
async function faultOf(server: UpstreamSettings): Promise<string | null> {
  const { timeoutMs, bootstrap, extraCa } = start;
  const pool = { name: 'test', strategy: 'Failover', priority: 1, servers: [server] } as const;
  const resolver = new Resolver(
    {
      pools: [pool],
      queryTimeoutMs: timeoutMs,
      bootstrap,
      ...(extraCa === undefined ? {} : { extraCa }),
      healthCheck: {
        enabled: false,
        intervalSecs: 60,
        timeoutMs,
        failureThreshold: 1,
        successThreshold: 1,
      },
    },
    systemClock,
    SILENT,
  );
  const { promise, resolve } = Promise.withResolvers<string | null>();
  resolver.resolve(ROOT_SERVERS, (resolution) => {
    if (resolution.kind === 'answer') return resolve(null);
    const { reason, rcode } = resolution;
    const isCode = reason === 'servfail' || reason === 'refused';
    resolve(isCode ? rcodeName(rcode) : (resolver.report()[0]?.lastError ?? reason));
  });
  return promise;
}
