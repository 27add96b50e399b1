/**
 * One faulty upstream of two: latency and failed queries, for each strategy and each fault. The bench prints
 * them and the lab (`upstream-faults.test.ts`) checks them.
 */
import type { Resolution } from '../../dns-worker/resolve/resolver.ts';
import { Resolver } from '../../dns-worker/resolve/resolver.ts';
import { systemClock } from '../../shared/clock.ts';
import type { PoolStrategy } from '../../shared/policy/upstream-settings.ts';
import { a, idOf, question, questionOf, response } from '../support/dns/built-messages.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import type { ReceivedQuery, Script } from '../support/dns/scripted-upstream.ts';
import { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';

const QUESTIONS = 100;
const PAUSE_MS = 20;
const SLOW_MS = 500;
const FLAP_MS = 400;
const HEALTH = { enabled: true, intervalSecs: 1, timeoutMs: 1000, failureThreshold: 3, successThreshold: 2 };

function good(query: ReceivedQuery): Uint8Array {
  const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.1')];
  return response(questionOf(query.bytes), { id: idOf(query.bytes), answers });
}

/** A wrong id, a wrong question and noise, in rotation, but never a valid answer. */
const lying: Script = (query, index) => {
  const forged = response(question('www.example.com', 'A'), { id: idOf(query.bytes) });
  const wrongId = response(questionOf(query.bytes), { id: idOf(query.bytes) ^ 1 });
  query.reply([forged, wrongId, new Uint8Array(40).fill(0xff)][index % 3]!);
};

/** Sends the reply later, unless the test has ended by that time. */
function later(upstream: ScriptedUpstream, query: ReceivedQuery): void {
  if (!upstream.isClosed) query.reply(good(query));
}

const FAULTS: Readonly<Record<string, (upstream: ScriptedUpstream) => Script>> = {
  none: () => (query) => query.reply(good(query)),
  dead: () => () => undefined,
  'slow 500 ms': (upstream) => (query) => void setTimeout(() => later(upstream, query), SLOW_MS).unref(),
  lying: () => lying,
  flapping: () => (query) => {
    if (Math.floor(performance.now() / FLAP_MS) % 2 === 0) query.reply(good(query));
  },
};

/** Result of a strategy with a fault. */
export interface FaultRow {
  readonly strategy: PoolStrategy;
  readonly fault: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failures: number;
}

/** Sends questions at a steady rate, independent of the latency; the faulty server is the first of the pool. */
async function measure(strategy: PoolStrategy, fault: string): Promise<FaultRow> {
  const [bad, well] = [await ScriptedUpstream.start(), await ScriptedUpstream.start()];
  bad.udpScript = FAULTS[fault]!(bad);
  well.udpScript = (query) => query.reply(good(query));
  const servers = [bad, well].map(({ ip, port }) => {
    return { address: `udp://${ip}:${String(port)}`, transport: 'udp', host: ip, port } as const;
  });
  const settings = {
    pools: [{ name: 'lab', strategy, priority: 1, servers }],
    queryTimeoutMs: 3000,
    bootstrap: [],
    healthCheck: HEALTH,
  };
  const resolver = new Resolver(settings, systemClock, new MemoryLogger());
  const asked: Promise<{ ms: number; kind: Resolution['kind'] }>[] = [];
  for (let i = 0; i < QUESTIONS; i++) {
    const startedMs = performance.now();
    asked.push(
      new Promise((done) => {
        resolver.resolve(question(`n${String(i)}.example.org`, 'A'), ({ kind }) =>
          done({ ms: performance.now() - startedMs, kind }),
        );
      }),
    );
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
  const outcomes = await Promise.all(asked);
  await resolver.close();
  await Promise.all([bad.close(), well.close()]);
  const sorted = outcomes.map(({ ms }) => ms).sort((x, y) => x - y);
  const rank = (share: number): number => Math.round(sorted[Math.floor(share * (QUESTIONS - 1))]! * 10) / 10;
  const failures = outcomes.filter(({ kind }) => kind !== 'answer').length;
  return { strategy, fault, p50Ms: rank(0.5), p99Ms: rank(0.99), failures };
}

/** Every strategy. */
export const STRATEGIES: readonly PoolStrategy[] = ['Parallel', 'Failover', 'Balanced', 'Fastest'];

/** Measures a strategy with every fault concurrently, each with its own servers. */
export function measureFaults(strategy: PoolStrategy): Promise<FaultRow[]> {
  return Promise.all(Object.keys(FAULTS).map((fault) => measure(strategy, fault)));
}

/** Every strategy, one after another. */
export async function measureAllFaults(): Promise<FaultRow[]> {
  const rows: FaultRow[] = [];
  for (const strategy of STRATEGIES) rows.push(...(await measureFaults(strategy)));
  return rows;
}

/** The rows as text. */
export function faultTable(rows: readonly FaultRow[]): string {
  const ms = (value: number): string => `${value.toFixed(1).padStart(7)} ms`;
  return rows
    .map(({ strategy, fault, p50Ms, p99Ms, failures }) => {
      const what = `${strategy.padEnd(9)} ${fault.padEnd(12)}`;
      return `${what} p50 ${ms(p50Ms)}  p99 ${ms(p99Ms)}  failures ${String(failures)}`;
    })
    .join('\n');
}
