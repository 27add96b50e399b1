import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { frame } from '../../../shared/dns/framing.ts';
import {
  a,
  idOf,
  octets,
  opt,
  question,
  questionOf,
  response,
  u16,
} from '../../../test/support/dns/built-messages.ts';
import type { TestRecord } from '../../../test/support/dns/built-messages.ts';
import type { Clock } from '../../../shared/clock.ts';
import { ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import type { ReceivedQuery } from '../../../test/support/dns/scripted-upstream.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import type { ExchangeOutcome } from './exchange.ts';
import { StreamUpstream, TCP_STREAM } from './exchange-tcp.ts';
import type { Question } from '../response/question.ts';

let upstream: ScriptedUpstream;
let stream: StreamUpstream;
let nowMs = 0;
const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

function www(i: number): Question {
  return question(`w${String(i)}.example.org`, 'A');
}

function ask(asked: Question): Promise<ExchangeOutcome> {
  return within('the outcome', new Promise((resolve) => void stream.ask(asked, resolve)));
}

/** Answers with the number in the name as the last byte of the address. */
function good(query: ReceivedQuery): Uint8Array {
  const asked = questionOf(query.bytes);
  const number = Number(String.fromCharCode(...asked.qname.subarray(2, 1 + asked.qname[0]!)));
  return response(asked, {
    id: idOf(query.bytes),
    answers: [a(Uint8Array.of(0xc0, 12), `192.0.2.${String(number)}`)],
  });
}

/** Answers to queries that were never sent, with ids next to that of the query. */
function flood(query: ReceivedQuery, count: number): void {
  for (let i = 1; i <= count; i++) query.reply(response(www(1), { id: idOf(query.bytes) ^ i }));
}

const SERVICE = question(`${'a.'.repeat(120)}example.org`, 'SRV');

/** A service record with these bytes as its target. */
function serviceAt(target: readonly number[]): TestRecord {
  return { owner: Uint8Array.of(0xc0, 12), type: 'SRV', ttl: 60, rdata: octets([0, 0, 0, 0, 0, 1], target) };
}

/**
 * An answer of 8 KB that becomes 100 KB when it is rewritten, because names in RDATA of this type must not be
 * compressed.
 */
const TOO_LONG = Array.from({ length: 400 }, () => serviceAt([0xc0, 12]));

function answer(
  query: Uint8Array,
  answers: readonly TestRecord[],
  flags = 0x8180,
  additionals: readonly TestRecord[] = [],
): Uint8Array {
  return response(questionOf(query), { id: idOf(query), flags, answers, additionals });
}

function lastOctet(outcome: ExchangeOutcome): number | undefined {
  return outcome.kind === 'answer' ? outcome.answer.body.at(-1) : undefined;
}

beforeEach(async () => {
  upstream = await ScriptedUpstream.start();
  stream = new StreamUpstream({ ip: upstream.ip, port: upstream.port, family: 4 }, TCP_STREAM, clock);
});

afterEach(async () => {
  stream.close();
  await upstream.close();
});

describe('StreamUpstream (DNS over TCP)', () => {
  test('ask() uses one connection for consecutive queries', async () => {
    upstream.tcpScript = (query) => query.reply(good(query));
    for (let i = 1; i <= 5; i++) expect(lastOctet(await ask(www(i)))).toBe(i);
    expect(upstream.tcpConnections).toBe(1);
  });

  test('ask() pipelines queries and accepts answers in any order, each ID once (CVE-2026-33596)', async () => {
    upstream.tcpScript = (_query, index) => {
      if (index === 99) for (const query of [...upstream.tcpQueries].reverse()) query.reply(good(query));
    };
    const outcomes = await Promise.all(Array.from({ length: 100 }, (_, i) => ask(www(i))));
    expect(outcomes.map(lastOctet)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(upstream.tcpConnections).toBe(1);
    expect(new Set(upstream.tcpQueries.map(({ bytes }) => idOf(bytes))).size).toBe(100);
  });

  test('ask() opens further connections when one is full, queues more queries, and rejects the rest', async () => {
    // Limits of one network: half of the 8 connections with 256 questions each, and half of the 16,384 that may wait.
    const outcomes = Array.from({ length: 1024 + 8192 + 1 }, (_, i) => ask(www(i)));
    expect(await outcomes.at(-1)).toEqual({
      kind: 'failed',
      reason: 'local',
      detail: 'too many queries in flight',
    });
    expect(upstream.tcpConnections).toBeLessThanOrEqual(8);
  });

  test('ask() sends queued queries as soon as there is space, the client networks in turn', async () => {
    const waits = { greedy: 3000, modest: 30 };
    const ended: string[] = [];
    upstream.tcpScript = (query, index) => {
      // Answer no question before all accepted questions of the greedy network have arrived.
      if (index === 1023) for (const held of upstream.tcpQueries) held.reply(good(held));
      else if (index > 1023) query.reply(good(query));
    };
    const all = Object.entries(waits).flatMap(([network, count]) =>
      Array.from({ length: count }, async (_, i) => {
        const outcome = await ask({ ...www(i), network });
        ended.push(network);
        return outcome.kind;
      }),
    );
    expect(new Set(await Promise.all(all))).toEqual(new Set(['answer']));
    expect(ended.lastIndexOf('modest')).toBeLessThan(1024 + 3 * waits.modest);
  });

  test('cancel() removes a query that waits for space completely', async () => {
    const ended: unknown[] = [];
    const waiting = Array.from({ length: 1024 + 10 }, (_, i) =>
      stream.ask(www(i), (outcome) => ended.push(outcome)),
    );
    expect(waiting.map(({ wasQueued }) => wasQueued).lastIndexOf(false)).toBe(1023);
    for (const exchange of waiting.slice(1024)) exchange.cancel();
    for (const exchange of waiting.slice(0, 1024)) exchange.cancel();
    upstream.tcpScript = (query) => query.reply(good(query));
    expect(lastOctet(await ask(www(1)))).toBe(1);
    expect(ended).toEqual([]);
  });

  test('ask() accepts an answer of 64 KiB that arrives slowly', async () => {
    const asked = question('big.example.org', 'TXT');
    const text = octets(...Array.from({ length: 250 }, () => [255, ...new Uint8Array(255).fill(0x61)]));
    const record: TestRecord = { owner: Uint8Array.of(0xc0, 12), type: 'TXT', ttl: 60, rdata: text };
    upstream.tcpScript = ({ bytes, connection }) => {
      const whole = frame(response(asked, { id: idOf(bytes), answers: [record] }));
      connection?.write(whole.subarray(0, 1));
      setImmediate(() => {
        connection?.write(whole.subarray(1, 3));
        setImmediate(() => connection?.write(whole.subarray(3)));
      });
    };
    const outcome = await ask(asked);
    expect(outcome.kind === 'answer' && outcome.answer.body.length).toBe(12 + text.length);
  });

  test('ask() retries once on a new connection when a kept connection was closed', async () => {
    upstream.tcpScript = (query, index) => {
      if (index === 1) query.connection?.destroy();
      else query.reply(good(query));
    };
    expect(lastOctet(await ask(www(1)))).toBe(1);
    expect(lastOctet(await ask(www(2)))).toBe(2);
    expect(upstream.tcpConnections).toBe(2);
  });

  test.each<[string, (query: ReceivedQuery) => void]>([
    ['reset', (query) => query.connection?.resetAndDestroy()],
    ['half-closed', (query) => query.connection?.end()],
  ])('ask() fails when a new connection is %s before the answer', async (_how, script) => {
    upstream.tcpScript = script;
    expect(await ask(www(1))).toMatchObject({ kind: 'failed', reason: 'network' });
    expect(upstream.tcpConnections).toBe(1);
  });

  test.each<[string, (query: ReceivedQuery) => void]>([
    ['an empty message', (query) => query.connection?.write(Uint8Array.of(0, 0))],
    ['noise', (query) => query.reply(octets(u16(idOf(query.bytes)), new Uint8Array(40).fill(0xff)))],
    ['a query', (query) => query.reply(query.bytes)],
    ['endless unsolicited responses', (query) => flood(query, 65)],
  ])('ask() closes a connection that delivers %s (GHSA-4qjf-2hgm-92q6)', async (_what, script) => {
    upstream.tcpScript = script;
    expect(await ask(www(1))).toMatchObject({
      kind: 'failed',
      reason: 'network',
      detail: 'malformed response',
    });
  });

  test('ask() ignores unsolicited responses, up to a limit', async () => {
    upstream.tcpScript = (query) => {
      flood(query, 64);
      query.reply(good(query));
    };
    expect(lastOctet(await ask(www(1)))).toBe(1);
  });

  test.each<[string, string, (query: ReceivedQuery) => Uint8Array]>([
    ['for another question', 'malformed', ({ bytes }) => response(www(2), { id: idOf(bytes) })],
    ['cut short', 'malformed', (query) => good(query).subarray(0, -2)],
    ['with malformed data', 'unusable', ({ bytes }) => answer(bytes, [serviceAt([0xff, 0xff])])],
    ['too long once rewritten', 'unusable', ({ bytes }) => answer(bytes, TOO_LONG)],
    ['truncated even here', 'unusable', ({ bytes }) => answer(bytes, [], 0x8380)],
  ])(
    'an answer %s fails its own query, and none of the 100 other queries on the connection',
    async (_how, reason, bad) => {
      const others = Array.from({ length: 100 }, (_, i) => www(i + 2));
      upstream.tcpScript = (_query, index) => {
        if (index !== others.length) return;
        for (const query of upstream.tcpQueries)
          query.reply(idOf(query.bytes) === badId() ? bad(query) : good(query));
      };
      const badId = (): number => idOf(upstream.tcpQueries[0]!.bytes);
      const [outcome, ...rest] = await Promise.all([SERVICE, ...others].map((asked) => ask(asked)));
      expect(outcome).toMatchObject({ kind: 'failed', reason });
      expect(rest.map(lastOctet)).toEqual(others.map((_, i) => i + 2));
      expect(upstream.tcpConnections).toBe(1);
    },
  );

  test('ask() fails if the answer over TCP has the TC bit', async () => {
    upstream.tcpScript = (query) =>
      query.reply(response(www(1), { id: idOf(query.bytes), flags: 0x8380, additionals: [opt()] }));
    expect(await ask(www(1))).toEqual({
      kind: 'failed',
      reason: 'unusable',
      detail: 'truncated',
    });
  });

  const FORMERR = 0x8181;
  const refusal = ({ bytes }: ReceivedQuery): Uint8Array => answer(bytes, [], FORMERR);
  const hasEdns = ({ bytes }: ReceivedQuery): boolean => bytes[11] === 1;

  test.each<[string, (query: ReceivedQuery) => Uint8Array]>([
    ['FORMERR', refusal],
    ['NOTIMP', ({ bytes }) => answer(bytes, [], 0x8184)],
    ['FORMERR without the question', (query) => octets(refusal(query).subarray(0, 5), new Uint8Array(7))],
  ])(
    'ask() repeats the query without EDNS if the server answers %s, and remembers the refusal for an hour',
    async (_what, refuse) => {
      upstream.tcpScript = (query) => query.reply(hasEdns(query) ? refuse(query) : good(query));
      for (let i = 1; i <= 3; i++) expect(lastOctet(await ask(www(i)))).toBe(i);
      nowMs += 3_600_001;
      expect(lastOctet(await ask(www(4)))).toBe(4);
      expect(upstream.tcpQueries.map(hasEdns)).toEqual([true, false, false, false, true, false]);
      expect(upstream.tcpConnections).toBe(1);
    },
  );

  test('ask() does not retry after a refusal with OPT, and remembers nothing if the retry is also refused', async () => {
    upstream.tcpScript = (query) => query.reply(answer(query.bytes, [], FORMERR, [opt()]));
    expect(await ask(www(1))).toMatchObject({ kind: 'answer', answer: { rcode: 1 } });
    upstream.tcpScript = (query) => query.reply(refusal(query));
    for (let i = 0; i < 2; i++)
      expect(await ask(www(1))).toMatchObject({ kind: 'answer', answer: { rcode: 1 } });
    expect(upstream.tcpQueries.map(hasEdns)).toEqual([true, true, false, true, false]);
  });

  test('ask() keeps EDNS for a server known to support EDNS, because a single domain may make the server refuse a query', async () => {
    upstream.tcpScript = (query) => query.reply(answer(query.bytes, [], 0x8180, [opt()]));
    await ask(www(1));
    upstream.tcpScript = (query) => query.reply(hasEdns(query) ? refusal(query) : good(query));
    for (let i = 1; i <= 2; i++) expect(lastOctet(await ask(www(i)))).toBe(i);
    expect(upstream.tcpQueries.map(hasEdns)).toEqual([true, true, false, true, false]);
  });

  test('ask() fails at once if no server listens', async () => {
    await upstream.close();
    expect(await ask(www(1))).toEqual({ kind: 'failed', reason: 'network', detail: 'ECONNREFUSED' });
    upstream = await ScriptedUpstream.start();
  });

  test('cancel() keeps the connection open, and the late answer is ignored', async () => {
    const late: ReceivedQuery[] = [];
    upstream.tcpScript = (query, index) => {
      if (index === 1) late.push(query);
      else query.reply(good(query));
      if (index === 2) for (const held of late) held.reply(good(held));
    };
    await ask(www(1));
    let ended = 0;
    const cancelled = stream.ask(www(2), () => ended++);
    cancelled.cancel();
    expect(lastOctet(await ask(www(3)))).toBe(3);
    expect(lastOctet(await ask(www(4)))).toBe(4);
    expect(upstream.tcpConnections).toBe(1);
    expect(ended).toBe(0);
  });

  test('cancel() after a time of silence closes the connection, because the server may be gone', async () => {
    upstream.tcpScript = (query, index) => {
      if (index !== 1) query.reply(good(query));
    };
    await ask(www(1));
    const exchange = stream.ask(www(2), () => undefined);
    await until(
      'the second query',
      () => upstream.tcpQueries.length,
      (count) => count === 2,
    );
    nowMs += 1500;
    exchange.cancel();
    expect(lastOctet(await ask(www(3)))).toBe(3);
    expect(upstream.tcpConnections).toBe(2);
  });

  test('cancel() of the only query on a connection without any answer closes the connection', async () => {
    const opened = new Promise<void>((resolve) => {
      upstream.onConnection = (connection) => connection.on('close', () => resolve());
    });
    const received = new Promise<void>((resolve) => {
      upstream.tcpScript = () => resolve();
    });
    const exchange = stream.ask(www(1), () => undefined);
    await within('the query', received);
    exchange.cancel();
    await within('the connection to close', opened);
    expect(upstream.tcpConnections).toBe(1);
  });
});
