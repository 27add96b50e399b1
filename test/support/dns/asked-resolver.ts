/** Opens a resolver and the scripted servers that it queries, resolves questions, and summarises each result. */
import { systemClock } from '../../../shared/clock.ts';
import type {
  PoolSettings,
  PoolStrategy,
  UpstreamSettings,
} from '../../../shared/policy/upstream-settings.ts';
import { type TestRecord, a, idOf, ns, question, questionOf, response } from './built-messages.ts';
import { MemoryLogger } from '../parts/memory-logger.ts';
import { within } from '../parts/until.ts';
import { ScriptedUpstream } from './scripted-upstream.ts';
import type { ReceivedQuery, Script } from './scripted-upstream.ts';
import { type FlightResolver } from '../../../dns-worker/resolve/node-flights.ts';
import type { Question } from '../../../dns-worker/resolve/response/question.ts';
import type { Resolution, ResolverSettings } from '../../../dns-worker/resolve/resolver.ts';
import { Resolver } from '../../../dns-worker/resolve/resolver.ts';

/** The default question. */
export const WWW = question('www.example.org', 'A');
/** Health settings without probes. */
export const HEALTH_OFF = {
  enabled: false,
  intervalSecs: 30,
  timeoutMs: 2000,
  failureThreshold: 3,
  successThreshold: 2,
};
/** Flags of responses. */
export const SERVFAIL = 0x8182;
export const REFUSED = 0x8185;

const cleanups: (() => Promise<void>)[] = [];

/** Closes what `upstream` and `resolver` have opened; for `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/** A server that answers over UDP as the script defines. */
export async function upstream(script: Script = () => undefined): Promise<ScriptedUpstream> {
  const server = await ScriptedUpstream.start();
  server.udpScript = script;
  cleanups.push(() => server.close());
  return server;
}

/** A script that sends a valid answer. */
export function answers(lastOctet: number): Script {
  return (query) => query.reply(good(query, lastOctet));
}

/** A script that sends an answer with these flags. */
export function fails(flags: number, ...additionals: TestRecord[]): Script {
  return (query) =>
    query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), flags, additionals }));
}

/** A script that sends a referral. */
export const refers: Script = (query) => {
  const authorities = [ns('org', 'ns.example.org')];
  query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), flags: 0x8100, authorities }));
};

/** A script that does not answer. */
export const silent: Script = () => undefined;

/** The answer 192.0.2.`lastOctet`. */
export function good(query: ReceivedQuery, lastOctet: number): Uint8Array {
  const record = a(Uint8Array.of(0xc0, 12), `192.0.2.${String(lastOctet)}`);
  return response(questionOf(query.bytes), { id: idOf(query.bytes), answers: [record] });
}

/** Settings of a server in a pool. */
export function settingsOf(
  server: ScriptedUpstream,
  transport: UpstreamSettings['transport'] = 'udp',
): UpstreamSettings {
  return {
    address: `${transport}://${server.ip}:${String(server.port)}`,
    transport,
    host: server.ip,
    port: server.port,
  };
}

/** A pool of these servers. */
export function pool(
  strategy: PoolStrategy,
  servers: readonly UpstreamSettings[],
  priority = 1,
): PoolSettings {
  return { name: `pool ${String(priority)}`, strategy, priority, servers };
}

/** A resolver over these pools. */
export function resolver(pools: readonly PoolSettings[], more: Partial<ResolverSettings> = {}): Resolver {
  const settings = { pools, queryTimeoutMs: 3000, bootstrap: [], healthCheck: HEALTH_OFF, ...more };
  const made = new Resolver(settings, systemClock, new MemoryLogger());
  cleanups.push(() => made.close());
  return made;
}

/** Resolves a question and waits for its result. */
export function resolve(by: FlightResolver, asked: Question = WWW): Promise<Resolution> {
  const resolved = new Promise<Resolution>((done) => by.resolve(asked, done));
  return within('a question to be resolved', resolved);
}

/** `upstream index: last octet of the answer`, or `reason rcode`. */
export function summary(resolution: Resolution): string {
  if (resolution.kind === 'failed') return `${resolution.reason} ${String(resolution.rcode)}`;
  return `${String(resolution.upstream)}: ${String(resolution.answer.body.at(-1))}`;
}
