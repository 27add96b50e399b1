/**
 * Resolvers of several threads that query the same server: no thread repeats a question that another thread is
 * resolving.
 */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ClaimArea, createClaimTable, releaseClaims } from '../../shared/memory/claim-table.ts';
import { createOutcomeRings } from '../../shared/memory/outcome-rings.ts';
import { systemClock } from '../../shared/clock.ts';
import { a, idOf, question, questionOf, response } from '../../test/support/dns/built-messages.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { type ReceivedQuery, ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { FlightOutcomes } from './flight-outcomes.ts';
import { NodeFlights, type FlightResolver, SharedResolver } from './node-flights.ts';
import { QuestionClaims } from './question-claims.ts';
import { type Resolution, Resolver } from './resolver.ts';

const HEALTH_OFF = {
  enabled: false,
  intervalSecs: 30,
  timeoutMs: 2000,
  failureThreshold: 3,
  successThreshold: 2,
};
const WWW = question('www.example.org', 'A');
const TIMEOUT_MS = 30_000;

let outcomes = createOutcomeRings(8);
const cleanups: (() => Promise<void>)[] = [];
beforeEach(() => {
  outcomes = createOutcomeRings(8);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server that keeps questions, however often each is sent, until the test answers them. */
async function holdingServer(): Promise<{ server: ScriptedUpstream; open: Map<string, ReceivedQuery> }> {
  const server = await ScriptedUpstream.start();
  cleanups.push(() => server.close());
  const open = new Map<string, ReceivedQuery>();
  server.udpScript = (query) => open.set(`${String(query.port)} ${String(idOf(query.bytes))}`, query);
  return { server, open };
}

interface SharedPools extends FlightResolver {
  close(): Promise<void>;
}

function resolverOf(
  worker: number,
  memory: SharedArrayBuffer,
  servers: ScriptedUpstream,
  settingsVersion = 0,
): SharedPools {
  const { ip, port } = servers;
  const server = { address: `udp://${ip}:${String(port)}`, transport: 'udp', host: ip, port } as const;
  const pools = [{ name: 'pool', strategy: 'Failover', priority: 1, servers: [server] }] as const;
  const settings = { pools, queryTimeoutMs: TIMEOUT_MS, bootstrap: [], healthCheck: HEALTH_OFF };
  const parts = { memory, worker, clock: systemClock, longestMs: TIMEOUT_MS };
  const shared = {
    claims: new QuestionClaims(parts, ClaimArea.UPSTREAMS),
    outcomes: new FlightOutcomes({ memory: outcomes, worker, settingsVersion }),
  };
  const behind = new Resolver(settings, systemClock, new MemoryLogger());
  const flights = new NodeFlights(shared, TIMEOUT_MS, new MemoryLogger());
  const made = new SharedResolver(behind, flights, systemClock);
  const close = async (): Promise<void> => {
    made.close();
    await behind.close();
  };
  cleanups.push(close);
  return { resolve: (asked, done) => made.resolve(asked, done), close };
}

function resolve(by: FlightResolver): Promise<Resolution> {
  return within('the resolution', new Promise((done) => by.resolve(WWW, done)));
}

/** Answers the only question that is open. */
async function answerOne(open: Map<string, ReceivedQuery>): Promise<void> {
  await until(
    'an open question',
    () => open.size,
    (now) => now > 0,
  );
  expect(open.size).toBe(1);
  const [[key, query]] = [...open] as [[string, ReceivedQuery]];
  open.delete(key);
  const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.1')];
  query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
}

describe('SharedResolver, one per thread of a node,', () => {
  test.each([2, 8])(
    'resolve() of %i threads sends one upstream query, and all threads use the answer',
    async (threads) => {
      const { server, open } = await holdingServer();
      const memory = createClaimTable(1);
      const resolvers = Array.from({ length: threads }, (_, worker) => resolverOf(worker, memory, server));
      const asked = resolvers.flatMap((by) => [resolve(by), resolve(by)]);
      await answerOne(open);
      expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(Array(2 * threads).fill('answer'));
      expect(server.udpQuestions).toHaveLength(1);
    },
  );

  test('resolve() sends its own query if another thread sent the same query with different settings', async () => {
    const { server, open } = await holdingServer();
    const memory = createClaimTable(1);
    const asked = [resolve(resolverOf(0, memory, server)), resolve(resolverOf(1, memory, server, 1))];
    await answerOne(open);
    await answerOne(open);
    expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(['answer', 'answer']);
  });

  test('resolve() continues if the thread that sent the query has died', async () => {
    const { server, open } = await holdingServer();
    const memory = createClaimTable(1);
    const [dead, alive] = [resolverOf(0, memory, server), resolverOf(1, memory, server)];
    void resolve(dead);
    await until(
      'the question of the thread that dies',
      () => open.size,
      (now) => now === 1,
    );
    const waiting = resolve(alive);
    open.clear();
    releaseClaims(memory, 0);
    server.udpScript = (query) => {
      const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.1')];
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
    };
    expect((await waiting).kind).toBe('answer');
  });

  test('close() lets the other threads send its pending queries', async () => {
    const { server, open } = await holdingServer();
    const memory = createClaimTable(1);
    const [first, second] = [resolverOf(0, memory, server), resolverOf(1, memory, server)];
    const failed = resolve(first);
    await until(
      'the question of the first thread',
      () => open.size,
      (now) => now === 1,
    );
    const waiting = resolve(second);
    await first.close();
    open.clear();
    expect(await failed).toMatchObject({ kind: 'failed', reason: 'network' });
    await answerOne(open);
    expect((await waiting).kind).toBe('answer');
  });

  test('close() ends the wait for the query of another thread', async () => {
    const { server, open } = await holdingServer();
    const memory = createClaimTable(1);
    const [first, second] = [resolverOf(0, memory, server), resolverOf(1, memory, server)];
    const asked = resolve(first);
    await until(
      'the question of the first thread',
      () => open.size,
      (now) => now === 1,
    );
    const waiting = resolve(second);
    await second.close();
    expect(await waiting).toMatchObject({ kind: 'failed', reason: 'network' });
    await answerOne(open);
    expect((await asked).kind).toBe('answer');
    expect(open.size).toBe(0);
  });
});
