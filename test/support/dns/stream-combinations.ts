/**
 * Every way in which a correct server may treat several queries on one connection (pipelining), and an idle connection
 * (kept), over each transport and over TCP after a truncated answer. Servers that refuse TCP or do not answer over TCP
 * are left out, because they have no connections.
 */
import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { systemClock } from '../../../shared/clock.ts';
import type { HardeningMode } from '../../../shared/policy/hardening-settings.ts';
import type { UpstreamSettings } from '../../../shared/policy/upstream-settings.ts';
import { Resolver } from '../../../dns-worker/resolve/resolver.ts';
import { emptyAnswer, goodAnswer } from '../parts/asked-worker.ts';
import { MemoryLogger } from '../parts/memory-logger.ts';
import { until } from '../parts/until.ts';
import { HEALTH_OFF, resolve } from './asked-resolver.ts';
import { question } from './built-messages.ts';
import type { TestCertificate } from './certificates.ts';
import { ScriptedUpstream } from './scripted-upstream.ts';
import { type StreamPeer, type StreamQuestion, type StreamScript, StreamServer } from './stream-server.ts';

/** Transport to the server. `truncated`: UDP on which every answer is truncated, so that the resolver uses TCP. */
export type Carrier = 'tcp' | 'tls' | 'https' | 'truncated';

/** Behaviour of a server. */
export interface StreamCombination {
  readonly feature: 'pipelining' | 'kept connections';
  readonly how: string;
  readonly script: () => StreamScript;
  readonly carrier: Carrier;
}

/** Outcome of a combination. */
export interface StreamOutcome {
  readonly name: string;
  /** Number of answered questions in each round, out of `AT_ONCE`. */
  readonly answered: readonly number[];
  /** Number of questions in the last round that the server did not answer. */
  readonly unanswered: number;
}

/** Questions per round. */
export const AT_ONCE = 12;
/** Number of rounds. */
export const ROUNDS = 4;
/** Pause between two rounds, and idle time after which a `stale` connection no longer answers, milliseconds. */
const BREAK_MS = 700;
const STALE_MS = 500;
/** Delay of an answer, milliseconds, so that questions sent together are in flight together. */
const ANSWER_MS = 10;
/** Number of event loop turns in which an answer is encrypted, sent, received and read. */
const READING_TURNS = 4;
/**
 * Query time-out: four times the default, because servers, resolvers and their encryption share one thread on a machine
 * that may be busy.
 */
const TIMEOUT_MS = 12_000;

const good: StreamScript = ({ bytes, reply }) => reply(goodAnswer(bytes));

/**
 * Runs `work` after the resolver has read the answer, because a connection reset would discard an unread answer. Counts
 * turns of the event loop, which server and resolver share, because a fixed pause may be too short on a busy machine.
 */
async function onceRead(work: () => void): Promise<void> {
  await setTimeout(ANSWER_MS);
  for (let turn = 0; turn < READING_TURNS; turn++) await setImmediate();
  work();
}

/**
 * Answers after a short delay, and ignores questions that arrive during the delay; `refuse` is then called for their
 * connection.
 */
function oneAtATime(refuse: ((peer: StreamPeer) => void) | null): StreamScript {
  const busy = new Set<StreamPeer>();
  const refused = new Set<StreamPeer>();
  return (asked) => {
    const { peer } = asked;
    if (busy.has(peer)) {
      refused.add(peer);
      return;
    }
    busy.add(peer);
    void setTimeout(ANSWER_MS).then(() => {
      good(asked);
      if (refuse === null || !refused.has(peer)) busy.delete(peer);
      else void onceRead(() => refuse(peer));
    });
  };
}

/** Answers only the first query of each connection; then calls `then`, if any, for the connection. */
function onlyFirst(then: ((peer: StreamPeer) => void) | null): StreamScript {
  return (asked) => {
    if (asked.peer.questions > 1) return;
    good(asked);
    if (then !== null) void onceRead(() => then(asked.peer));
  };
}

/** Answers questions that arrived together in reverse order, each after a copy of the previous answer. */
function outOfOrder(): StreamScript {
  const waiting = new Map<StreamPeer, StreamQuestion[]>();
  return (asked) => {
    const together = waiting.get(asked.peer) ?? [];
    together.push(asked);
    if (together.length > 1) return;
    waiting.set(asked.peer, together);
    void setTimeout(ANSWER_MS).then(() => {
      waiting.delete(asked.peer);
      let earlier: StreamQuestion | null = null;
      for (const each of together.reverse()) {
        if (earlier !== null) good(earlier);
        good((earlier = each));
      }
    });
  };
}

/** Stops answering after a short idle time. */
function silentAfterBreak(): StreamScript {
  const lastMs = new Map<StreamPeer, number>();
  return (asked) => {
    const nowMs = performance.now();
    if (nowMs - (lastMs.get(asked.peer) ?? nowMs) > STALE_MS) return;
    lastMs.set(asked.peer, nowMs);
    good(asked);
  };
}

/** Two servers behind one address; connections are assigned to them in turn. */
function byConnection(...servers: readonly [StreamScript, StreamScript]): StreamScript {
  const peers = new Map<StreamPeer, number>();
  return (asked) => {
    if (!peers.has(asked.peer)) peers.set(asked.peer, peers.size);
    servers[peers.get(asked.peer)! % 2]!(asked);
  };
}

const end = (peer: StreamPeer): void => peer.end();
const reset = (peer: StreamPeer): void => peer.reset();

const WAYS: readonly (readonly [StreamCombination['feature'], string, () => StreamScript])[] = [
  ['pipelining', 'refused: closed', () => oneAtATime(end)],
  ['pipelining', 'refused: reset', () => oneAtATime(reset)],
  ['pipelining', 'stale: in reverse order, with copies of earlier answers', outOfOrder],
  ['pipelining', 'dropped', () => oneAtATime(null)],
  ['pipelining', 'only on some servers', () => byConnection(good, oneAtATime(reset))],
  ['pipelining', 'answered only by some servers', () => byConnection(good, oneAtATime(null))],
  ['kept connections', 'refused: closed', () => onlyFirst(end)],
  ['kept connections', 'refused: reset', () => onlyFirst(reset)],
  ['kept connections', 'stale: silent after a break', silentAfterBreak],
  ['kept connections', 'dropped: silent after an answer', () => onlyFirst(null)],
  ['kept connections', 'only on some servers', () => byConnection(good, onlyFirst(end))],
  ['kept connections', 'answered only by some servers', () => byConnection(good, onlyFirst(null))],
];

/**
 * Combinations that HTTP/2 excludes, because it limits the questions on a connection and announces the end of a
 * connection.
 */
const NOT_OVER_HTTPS: ReadonlySet<string> = new Set([
  'pipelining refused: closed',
  'pipelining refused: reset',
  'pipelining dropped',
  'kept connections refused: closed',
  'kept connections dropped: silent after an answer',
]);

/** All combinations over these carriers. */
export function streamCombinations(...carriers: readonly Carrier[]): StreamCombination[] {
  return WAYS.flatMap(([feature, how, script]) =>
    carriers
      .filter((carrier) => carrier !== 'https' || !NOT_OVER_HTTPS.has(`${feature} ${how}`))
      .map((carrier) => ({ feature, how, script, carrier })),
  );
}

interface StartedServer extends AsyncDisposable {
  readonly settings: UpstreamSettings;
}

/** A UDP server that truncates every answer, and treats connections as the script defines. */
async function truncating(ip: string, script: StreamScript): Promise<StartedServer> {
  const server = await ScriptedUpstream.start(ip);
  const peers = new Map<Socket, StreamPeer>();
  const TRUNCATED = 0x8380;
  server.udpScript = ({ bytes, reply }) => reply(emptyAnswer(bytes, TRUNCATED));
  server.tcpScript = ({ bytes, connection, reply }) => {
    const socket = connection!;
    const peer = peers.get(socket) ?? {
      questions: 0,
      end: () => socket.end(),
      reset: () => socket.resetAndDestroy(),
    };
    peers.set(socket, peer);
    peer.questions++;
    script({ bytes, peer, reply });
  };
  const { port } = server;
  const settings = { address: 'udp://upstream', transport: 'udp', host: ip, port } as const;
  return { settings, [Symbol.asyncDispose]: () => server.close() };
}

/** Queries a server with this behaviour at this address, over TLS and HTTPS at 127.0.0.1. */
export async function runStreamCombination(
  { feature, how, script, carrier }: StreamCombination,
  ip: string,
  mode: HardeningMode,
  certificate: (TestCertificate & { readonly authority: string }) | null = null,
): Promise<StreamOutcome> {
  let left = 0;
  let round = 0;
  const treat = script();
  const counted: StreamScript = (asked) => {
    // Answers that arrive after the end of their round do not count.
    const asOf = round;
    let isOpen = true;
    left++;
    treat({
      ...asked,
      reply: (message) => {
        if (isOpen && asOf === round) left--;
        isOpen = false;
        asked.reply(message);
      },
    });
  };
  await using server =
    carrier === 'truncated'
      ? await truncating(ip, counted)
      : await StreamServer.start(carrier, certificate, counted);
  const resolver = new Resolver(
    {
      pools: [{ name: 'pool', strategy: 'Failover', priority: 1, servers: [server.settings] }],
      queryTimeoutMs: TIMEOUT_MS,
      bootstrap: [],
      healthCheck: HEALTH_OFF,
      hardening: { cookies: mode, caseRandomization: mode },
      extraCa: certificate === null ? [] : [certificate.authority],
    },
    systemClock,
    new MemoryLogger(),
  );
  try {
    const answered: number[] = [];
    while (answered.length < ROUNDS) {
      const startMs = performance.now();
      if (round > 0) await until('the break to be over', () => performance.now() - startMs > BREAK_MS);
      round++;
      left = 0;
      const labels = Array.from({ length: AT_ONCE }, (_, i) => `q${String(round)}-${String(i)}`);
      const ended = await Promise.all(
        labels.map((label) => resolve(resolver, question(`${label}.example.org`, 'A'))),
      );
      answered.push(ended.filter((one) => one.kind === 'answer' && one.answer.rcode === 0).length);
    }
    return { name: `${carrier}, ${mode}: ${feature} ${how}`, answered, unanswered: left };
  } finally {
    await resolver.close();
  }
}
