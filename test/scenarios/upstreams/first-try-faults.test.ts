/**
 * Servers that fail when an answer thread queries them directly: clients get the same answers as through the resolver,
 * and as fast.
 */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  firstServerAt,
  FirstServerRecord,
  FirstServersHead,
} from '../../../shared/memory/first-server-layout.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import type { UpstreamSettings } from '../../../shared/policy/upstream-settings.ts';
import { idOf, questionOf, response } from '../../support/dns/built-messages.ts';
import { settingsOf } from '../../support/dns/asked-resolver.ts';
import { type ReceivedQuery, type Script, ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { ADDRESS, allAnswered, AskedWorker, goodAnswer } from '../../support/parts/asked-worker.ts';
import { until } from '../../support/parts/until.ts';

const HEADER_SIZE = 12;

let server: ScriptedUpstream;
let other: ScriptedUpstream;
beforeEach(async () => {
  server = await ScriptedUpstream.start();
  other = await ScriptedUpstream.start();
});
/** Timers of answers that are not sent yet. */
const late = new Set<NodeJS.Timeout>();
afterEach(async () => {
  for (const timer of late) clearTimeout(timer);
  late.clear();
  await server[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

const good: Script = ({ bytes, reply }) => reply(goodAnswer(bytes));
const nameOf = ({ bytes }: ReceivedQuery): string => nameToText(questionOf(bytes).qname).toLowerCase();
const silent: Script = () => undefined;

/** A valid answer after this many milliseconds. */
function after(ms: number): Script {
  return ({ bytes, reply }) => {
    const timer = setTimeout(() => {
      late.delete(timer);
      reply(goodAnswer(bytes));
    }, ms);
    late.add(timer);
  };
}

/** Sends these messages for each query, then a valid answer. */
function firstSends(...messages: ((query: ReceivedQuery) => Uint8Array)[]): Script {
  return (query) => {
    for (const message of messages) query.reply(message(query));
    query.reply(goodAnswer(query.bytes));
  };
}

/** Number of servers that the answer thread may query. */
function askedFirst({ worker }: AskedWorker): number {
  const head = new Int32Array(worker.memory.firstServers);
  return Atomics.load(head, FirstServersHead.COUNT_WORD);
}

/** Minimum time that the answer thread waits for a server, milliseconds. */
function waitMs(memory: SharedArrayBuffer, place: number): number {
  return new Int32Array(memory, firstServerAt(place))[FirstServerRecord.MIN_WAIT_MS >>> 2]!;
}

function bothServers(): UpstreamSettings[] {
  return [settingsOf(server), settingsOf(other)];
}

/** A reply with the right id and a different question. */
function toAnother({ bytes }: ReceivedQuery): Uint8Array {
  const asked = questionOf(bytes);
  return response({ ...asked, qtype: asked.qtype + 1 }, { id: idOf(bytes) });
}

describe('an answer thread with one upstream server', () => {
  test.each<[string, Script]>([
    ['an empty datagram', firstSends(() => new Uint8Array(0))],
    ['less than a header', firstSends(({ bytes }) => bytes.slice(0, HEADER_SIZE - 1))],
    ['the query itself', firstSends(({ bytes }) => bytes)],
    ['an answer to another question with the right id', firstSends(toAnother)],
    ['its answer twice', firstSends(({ bytes }) => goodAnswer(bytes))],
  ])('accepts the answer to its first attempt from a server that first sends %s', async (_what, script) => {
    server.udpScript = script;
    await using asked = await AskedWorker.start([settingsOf(server)]);
    expect(await asked.askMany(40)).toEqual(allAnswered(40));
    // The answer thread answers nearly all queries; a busy machine answers a few after the wait of the first try.
    expect(asked.passedOn).toBeLessThan(10);
  });

  test.each<[string, (query: ReceivedQuery) => Uint8Array]>([
    ['an answer that ends too early', ({ bytes }) => goodAnswer(bytes).slice(0, -3)],
    [
      'a header of FORMERR',
      ({ bytes }) => Uint8Array.of(...bytes.slice(0, 2), 0x81, 0x81, ...new Uint8Array(8)),
    ],
    ['60,000 bytes', ({ bytes }) => Buffer.concat([goodAnswer(bytes), Buffer.alloc(60_000)])],
    ['SERVFAIL', ({ bytes }) => response(questionOf(bytes), { id: idOf(bytes), flags: 0x8182 })],
  ])('passes the query to the resolver if the first reply is %s', async (_what, message) => {
    server.udpScript = (query, index) => query.reply(index === 0 ? message(query) : goodAnswer(query.bytes));
    server.tcpScript = good;
    await using asked = await AskedWorker.start([settingsOf(server)]);
    expect(await asked.ask()).toBe(ADDRESS);
    expect(asked.passedOn).toBeLessThanOrEqual(1);
    expect(await asked.askMany(40)).toEqual(allAnswered(40));
  });

  test('queries the server directly again after the server has restarted', async () => {
    const { ip, port } = server;
    server.udpScript = good;
    await using asked = await AskedWorker.start([settingsOf(server)]);
    expect(await asked.ask()).toBe(ADDRESS);
    await server.close();
    const waiting = asked.askMany(100);
    await until(
      'the answer thread to stop asking',
      () => askedFirst(asked),
      (count) => count === 0,
    );
    server = await ScriptedUpstream.start(ip, port);
    server.udpScript = good;
    await waiting;
    await until('an answer', async () => (await asked.ask()) === ADDRESS);
    await until(
      'the answer thread to ask',
      () => askedFirst(asked),
      (count) => count === 1,
    );
    const before = asked.passedOn;
    expect(await asked.askMany(40)).toEqual(allAnswered(40));
    expect(asked.passedOn).toBe(before);
  });

  test('returns a stale answer immediately after a failure, without another upstream query', async () => {
    server.udpScript = ({ bytes, reply }) => reply(goodAnswer(bytes, 1));
    const cache = {
      enabled: true,
      minTtlSecs: 0,
      maxTtlSecs: 86_400,
      negativeMaxTtlSecs: 3600,
      serveStaleSecs: 3600,
      optimisticRefresh: false,
    };
    await using asked = await AskedWorker.start([settingsOf(server)], { cache, queryTimeoutMs: 1000 });
    const name = asked.newName();
    expect(await asked.ask(name)).toBe(ADDRESS);
    server.udpScript = silent;
    await until('the stale answer', async () => {
      const before = server.udpQueries.length;
      return (await asked.ask(name)) === ADDRESS && server.udpQueries.length > before;
    });
    const before = server.udpQueries.length;
    expect(await asked.ask(name)).toBe(ADDRESS);
    expect(server.udpQueries).toHaveLength(before);
  });
});

describe('an answer thread with two upstream servers', () => {
  test('sends each query once to a server that is slower than the time limit of the first attempt', async () => {
    server.udpScript = after(700);
    other.udpScript = after(700);
    await using asked = await AskedWorker.start(bothServers());
    expect(await asked.ask()).toBe(ADDRESS);
    const before = server.udpQuestions.length;
    expect(await asked.ask()).toBe(ADDRESS);
    expect(server.udpQuestions).toHaveLength(before + 1);
  });

  test('queries both servers if the first server delays one query and answers other queries', async () => {
    server.udpScript = (query, index) => {
      if (nameOf(query) !== 'n0.example.org') good(query, index);
    };
    other.udpScript = good;
    await using asked = await AskedWorker.start(bothServers());
    const reply = asked.ask();
    for (let i = 0; i < 5; i++) expect(await asked.ask()).toBe(ADDRESS);
    expect(await reply).toBe(ADDRESS);
    expect(askedFirst(asked)).toBe(2);
  });

  test('queries only the second server once the first server is silent', async () => {
    other.udpScript = good;
    await using asked = await AskedWorker.start(bothServers());
    expect(await asked.askMany(40)).toEqual(allAnswered(40));
    expect(askedFirst(asked)).toBe(0);
    const before = server.udpQueries.length;
    for (let i = 0; i < 20; i++) expect(await asked.ask()).toBe(ADDRESS);
    // The server gets only trial queries, one per second.
    expect(server.udpQueries.length - before).toBeLessThan(10);
  });
});

describe('an answer thread that queries two servers in parallel', () => {
  test('waits for the slower server if the faster server has become silent', async () => {
    server.udpScript = good;
    other.udpScript = after(250);
    await using asked = await AskedWorker.start(bothServers(), {}, 'Parallel');
    const memory = asked.worker.memory.firstServers;
    await until('the wait for the slower server to be known', async () => {
      await asked.ask();
      return waitMs(memory, 1) > 250;
    });
    server.udpScript = silent;
    const before = asked.passedOn;
    expect(await asked.ask()).toBe(ADDRESS);
    expect(asked.passedOn).toBe(before);
  });

  test('leaves its queries to the resolver once one server is silent', async () => {
    server.udpScript = good;
    other.udpScript = good;
    await using asked = await AskedWorker.start(bothServers(), {}, 'Parallel');
    expect(await asked.ask()).toBe(ADDRESS);
    other.udpScript = silent;
    await until('the answer thread to stop asking', async () => {
      await asked.ask();
      return askedFirst(asked) === 0;
    });
    other.udpScript = good;
    await until('the answer thread to ask both', async () => {
      await asked.ask();
      return askedFirst(asked) === 2;
    });
  });
});
