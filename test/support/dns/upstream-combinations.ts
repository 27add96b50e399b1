/**
 * Every way in which a correct upstream may treat a feature, combined with every way in which it may treat TCP; and a
 * resolver that queries such an upstream. As a program, runs all combinations with `auto` at the address in its
 * argument and prints the outcomes. The address must be public, because Weir does not harden queries to private
 * addresses.
 */
import { systemClock } from '../../../shared/clock.ts';
import type { HardeningMode } from '../../../shared/policy/hardening-settings.ts';
import { Resolver } from '../../../dns-worker/resolve/resolver.ts';
import { MemoryLogger } from '../parts/memory-logger.ts';
import { until, within } from '../parts/until.ts';
import { question } from './built-messages.ts';
import {
  anyForeignCookie,
  baking,
  bySource,
  droppingCase,
  droppingCookies,
  echoingOptions,
  FLAGS,
  foldingCase,
  foreignCookie,
  good,
  nameIn,
  refusingCase,
  refusingCookies,
  refusingEdns,
  type TcpBehaviour,
  treatTcp,
} from './odd-upstreams.ts';
import { type ReceivedQuery, type Script, ScriptedUpstream } from './scripted-upstream.ts';
import { runStreamCombination, streamCombinations } from './stream-combinations.ts';

type Feature = 'case' | 'cookie' | 'EDNS';

/** Behaviour of an upstream. */
export interface Combination {
  readonly feature: Feature;
  readonly how: string;
  readonly script: () => Script;
  readonly tcp: TcpBehaviour;
  /**
   * `auto after`: the server supports the feature until the resolver has detected the support, then behaves as `how`
   * says.
   */
  readonly mode: 'on' | 'auto' | 'auto after';
}

/** Outcome of a combination. */
export interface CombinationOutcome {
  readonly name: string;
  /** Response code or failure of each question, in order. */
  readonly ended: readonly string[];
  /** Queries for the last question, over UDP and TCP. */
  readonly udp: number;
  readonly tcp: number;
}

const TCP: readonly TcpBehaviour[] = ['works', 'refused', 'silent'];
/**
 * This way is not combined with `auto after`: to detect it, the resolver would have to query every nonexistent name
 * twice.
 */
const NXDOMAIN = 'refused with NXDOMAIN';
const WAYS: readonly (readonly [Feature, string, () => Script])[] = [
  ['case', NXDOMAIN, () => refusingCase(FLAGS.nxdomain)],
  ['case', 'refused with REFUSED', () => refusingCase(FLAGS.refused)],
  ['case', 'echoed', () => good],
  ['case', 'stale: as another client has asked', () => foldingCase],
  ['case', 'dropped', () => droppingCase],
  ['case', 'only on some servers', () => bySource(good, foldingCase)],
  ['case', 'answered only by some servers', () => bySource(good, droppingCase)],
  ['case', 'refused by some servers', () => bySource(good, refusingCase(FLAGS.refused))],
  ['cookie', 'refused', () => refusingCookies],
  ['cookie', 'refused by some servers', () => bySource(baking, refusingCookies)],
  ['cookie', 'echoed', () => echoingOptions],
  ['cookie', 'stale: of another client', () => foreignCookie],
  ['cookie', 'dropped', () => droppingCookies()],
  ['cookie', 'dropped with the part of the server', () => droppingCookies(16)],
  ['cookie', 'only on some servers', () => bySource(baking, good)],
  ['cookie', 'answered only by some servers', () => bySource(baking, droppingCookies())],
  ['EDNS', 'refused', () => refusingEdns],
  ['EDNS', 'echoed', () => echoingOptions],
  ['EDNS', 'stale: of another client', () => anyForeignCookie],
  ['EDNS', 'only on some servers', () => bySource(baking, refusingEdns)],
];

/** All combinations with these modes. */
export function combinations(...modes: readonly Combination['mode'][]): Combination[] {
  return modes.flatMap((mode) =>
    WAYS.filter(([, how]) => mode !== 'auto after' || how !== NXDOMAIN).flatMap(([feature, how, script]) =>
      TCP.map((tcp) => ({ feature, how, script, tcp, mode })),
    ),
  );
}

/** Time within which the behaviour of a server is detected, from the first question, milliseconds. */
const SETTLED_MS = 5000;
const QUESTIONS = 4;

/** Queries an upstream with this behaviour at this address. */
export async function runCombination(combination: Combination, ip: string): Promise<CombinationOutcome> {
  const { feature, how, script, tcp, mode } = combination;
  await using upstream = await ScriptedUpstream.start(ip);
  upstream.udpScript = mode === 'auto after' ? baking : script();
  treatTcp(upstream, tcp);
  const setting: HardeningMode = mode === 'on' ? 'on' : 'auto';
  const server = {
    address: 'udp://upstream',
    transport: 'udp',
    host: upstream.ip,
    port: upstream.port,
  } as const;
  const resolver = new Resolver(
    {
      pools: [{ name: 'pool', strategy: 'Failover', priority: 1, servers: [server] }],
      queryTimeoutMs: 10_000,
      bootstrap: [],
      healthCheck: {
        enabled: false,
        intervalSecs: 60,
        timeoutMs: 1000,
        failureThreshold: 3,
        successThreshold: 2,
      },
      hardening: {
        cookies: feature === 'case' ? 'off' : setting,
        caseRandomization: feature === 'cookie' ? 'off' : setting,
      },
    },
    systemClock,
    new MemoryLogger(),
  );
  let asked = 0;
  const ask = async (): Promise<{ ended: string; label: string }> => {
    const label = `question-${String(asked++)}`;
    const resolution = await within(
      'a question to end',
      new Promise<Parameters<Parameters<Resolver['resolve']>[1]>[0]>((done) =>
        resolver.resolve(question(`${label}.example.org`, 'A'), done),
      ),
    );
    return {
      label,
      ended: resolution.kind === 'answer' ? String(resolution.answer.rcode) : resolution.reason,
    };
  };
  try {
    if (mode === 'auto after') {
      const wanted = feature === 'cookie' ? 'cookies' : 'case';
      // A question starts the probes; more questions restart the probes if a busy machine lost some.
      await until(
        'the feature to be earned',
        async () => {
          await ask();
          return resolver.report()[0]!.supports;
        },
        (supports) => supports[wanted] === 'supported',
        { pauseMs: 500 },
      );
      upstream.udpScript = script();
    }
    const ended: string[] = [];
    let last = '';
    const startMs = performance.now();
    for (let i = 0; i < QUESTIONS; i++) {
      // Waits until the probes end. Pairs of probes are a second apart, and time out after two seconds over TCP. Until
      // then, each query is sent over TCP or repeated.
      if (i === QUESTIONS - 1)
        await until('the probes to be over', () => performance.now() - startMs > SETTLED_MS);
      const one = await ask();
      ended.push(one.ended);
      last = one.label;
    }
    const isLast = (query: ReceivedQuery): boolean => nameIn(query).toLowerCase().includes(last);
    return {
      name: `${mode}: ${feature} ${how}, TCP ${tcp}`,
      ended,
      udp: upstream.udpQueries.filter(isLast).length,
      tcp: upstream.tcpQueries.filter(isLast).length,
    };
  } finally {
    await resolver.close();
  }
}

/** Runs all combinations, this many at a time. */
export async function runCombinations<Each, Outcome>(
  all: readonly Each[],
  runOne: (each: Each) => Promise<Outcome>,
  atOnce = 45,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const run = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) outcomes[at] = await runOne(all[at]!);
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  return outcomes;
}

if (process.argv[1] === import.meta.filename) {
  const ip = process.argv[2]!;
  const outcomes = await runCombinations(combinations('auto', 'auto after'), (each) =>
    runCombination(each, ip),
  );
  const streams = await runCombinations(
    streamCombinations('truncated'),
    (each) => runStreamCombination(each, ip, 'auto'),
    3,
  );
  process.stdout.write(JSON.stringify({ outcomes, streams }));
}
