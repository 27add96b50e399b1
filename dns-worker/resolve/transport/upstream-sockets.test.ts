import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { a, idOf, question, questionOf, response } from '../../../test/support/dns/built-messages.ts';
import { type ReceivedQuery, ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import type { Exchange, ExchangeOutcome } from './exchange.ts';
import { exchangeUdp } from './exchange-udp.ts';
import { UdpSockets } from './upstream-sockets.ts';

let upstream: ScriptedUpstream;
let sockets: UdpSockets;
beforeEach(async () => {
  upstream = await ScriptedUpstream.start();
  sockets = new UdpSockets({ ip: upstream.ip, port: upstream.port, family: 4 });
});
afterEach(async () => {
  await upstream.close();
});

/** Sends this many questions concurrently; returns the outcomes in order. */
function askAtOnce(count: number): { exchanges: Exchange[]; outcomes: Promise<ExchangeOutcome[]> } {
  const exchanges: Exchange[] = [];
  const outcomes = Promise.all(
    Array.from({ length: count }, (_, i) => {
      const asked = question(`n${String(i)}.example.org`, 'A');
      return new Promise<ExchangeOutcome>((resolve) => {
        exchanges.push(exchangeUdp(sockets, asked, true, null, resolve));
      });
    }),
  );
  return { exchanges, outcomes };
}

const portsAsked = (): number[] => upstream.udpQueries.map(({ port }) => port);

describe('UdpSockets for upstream queries', () => {
  test('join() gives each query its own socket while few are in flight', async () => {
    upstream.udpScript = (query) => query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes) }));
    await askAtOnce(30).outcomes;
    expect(new Set(portsAsked()).size).toBe(30);
  });

  test('join() lets at most sixteen queries share a socket under load, each with its own ID', async () => {
    const { outcomes } = askAtOnce(160);
    // All questions wait before the first is answered, and each gets its own answer.
    upstream.udpScript = (_query, index) => {
      if (index < 159) return;
      for (const query of upstream.udpQueries) {
        const asked = questionOf(query.bytes);
        const last = Number(/\d+/.exec(Buffer.from(asked.qname).toString('latin1'))?.[0]) % 250;
        query.reply(
          response(asked, { id: idOf(query.bytes), answers: [a(asked.qname, `192.0.2.${String(last)}`)] }),
        );
      }
    };
    const ended = await within('all outcomes', outcomes);
    expect(
      ended.map((outcome) => (outcome.kind === 'answer' ? outcome.answer.body.at(-1) : outcome)),
    ).toEqual(ended.map((_, i) => i % 250));
    const uses = new Map<number, number>();
    for (const port of portsAsked()) uses.set(port, (uses.get(port) ?? 0) + 1);
    expect(Math.max(...uses.values())).toBeLessThanOrEqual(16);
    expect(uses.size).toBeLessThan(60);
    const marks = upstream.udpQueries.map(({ port, bytes }) => `${String(port)} ${String(idOf(bytes))}`);
    expect(new Set(marks).size).toBe(160);
  });

  test('leave() does not affect other queries on the same socket', async () => {
    const { exchanges, outcomes } = askAtOnce(60);
    for (const [i, exchange] of exchanges.entries()) if (i % 2 === 1) exchange.cancel();
    let answered = 0;
    void outcomes;
    upstream.udpScript = (query) => {
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes) }));
      answered++;
    };
    await until(
      '30 answers',
      () => answered,
      (count) => count >= 30,
    );
    expect(answered).toBe(30);
  });

  test('a reply with an ID never used on a port closes the port for all its queries; a late reply does not', async () => {
    const { outcomes } = askAtOnce(64);
    upstream.udpScript = (_query, index) => {
      if (index < 63) return;
      const { port } = shared();
      const [first, ...others] = upstream.udpQueries.filter((query) => query.port === port);
      const answer = (query: ReceivedQuery): Uint8Array =>
        response(questionOf(query.bytes), { id: idOf(query.bytes) });
      // The server replies twice; the second reply is late.
      first!.reply(answer(first!));
      first!.reply(answer(first!));
      others[0]!.reply(answer(others[0]!));
      const used = new Set([first!, ...others].map(({ bytes }) => idOf(bytes)));
      const unused = Array.from({ length: 32 }, (_, id) => id).find((id) => !used.has(id))!;
      first!.reply(response(questionOf(first!.bytes), { id: unused }));
      for (const query of upstream.udpQueries) if (query.port !== port) query.reply(answer(query));
    };
    /** A query from the port with the most queries. */
    const shared = (): ReceivedQuery => {
      const byPort = [...Map.groupBy(upstream.udpQueries, ({ port }) => port).values()];
      return byPort.sort((one, other) => other.length - one.length)[0]![0]!;
    };
    const ended = await within('all outcomes', outcomes);
    const ofPort = upstream.udpQueries.filter(({ port }) => port === shared().port).length;
    expect(ofPort).toBeGreaterThan(2);
    expect(ended.filter(({ kind }) => kind === 'exposed')).toHaveLength(ofPort - 2);
    expect(ended.filter(({ kind }) => kind === 'answer')).toHaveLength(64 - ofPort + 2);
  });

  test('an ICMP error from the server fails every query on the socket', async () => {
    await upstream.close();
    const outcomes = await askAtOnce(40).outcomes;
    expect(
      new Set(outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.detail : outcome.kind))),
    ).toEqual(new Set(['ECONNREFUSED']));
    upstream = await ScriptedUpstream.start();
  });
});
