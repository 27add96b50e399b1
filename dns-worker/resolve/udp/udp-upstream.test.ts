/** Findings of an upstream over UDP about a server that refuses EDNS; `udp-question.test.ts` tests its questions. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Clock } from '../../../shared/clock.ts';
import {
  a,
  idOf,
  octets,
  opt,
  question,
  questionOf,
  response,
} from '../../../test/support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import type { ReceivedQuery, Script } from '../../../test/support/dns/scripted-upstream.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { ownRecord } from '../capability/capabilities.ts';
import { Hardening } from '../capability/hardening.ts';
import { PUBLIC_NAME } from '../probe.ts';
import type { ExchangeOutcome } from '../transport/exchange.ts';
import { UdpUpstream } from './udp-upstream.ts';

const WWW = question('www.example.org', 'A');

let upstream: ScriptedUpstream;
let udp: UdpUpstream;
let nowMs = 0;
const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

function ask(): Promise<ExchangeOutcome> {
  return within('the outcome', new Promise((resolve) => void udp.ask(WWW, resolve)));
}

function lastOctet(outcome: ExchangeOutcome): number | undefined {
  return outcome.kind === 'answer' ? outcome.answer.body.at(-1) : undefined;
}

function reply(to: ReceivedQuery, { lastOctet: last = 1 } = {}): Uint8Array {
  return response(questionOf(to.bytes), {
    id: idOf(to.bytes),
    answers: [a(Uint8Array.of(0xc0, 12), `192.0.2.${String(last)}`)],
    additionals: [opt()],
  });
}

const plain: Script = (query) => query.reply(reply(query));

beforeEach(async () => {
  nowMs = 0;
  upstream = await ScriptedUpstream.start();
  const server = { ip: upstream.ip, port: upstream.port, family: 4 } as const;
  const settings = { cookies: 'off', caseRandomization: 'off' } as const;
  udp = new UdpUpstream(server, {
    hardening: new Hardening(ownRecord(clock), settings, true),
    probe: PUBLIC_NAME,
    clock,
  });
});

afterEach(async () => {
  udp.close();
  await upstream.close();
});

describe('UdpUpstream: servers without EDNS', () => {
  const hasEdns = ({ bytes }: ReceivedQuery): boolean => bytes[11] === 1;
  const refusing: Script = (query) => {
    const asked = questionOf(query.bytes);
    const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.1')];
    query.reply(
      response(asked, { id: idOf(query.bytes), ...(hasEdns(query) ? { flags: 0x8181 } : { answers }) }),
    );
  };
  const untilAsked = async (count: number): Promise<void> => {
    await until(
      `query ${String(count)} over TCP`,
      () => upstream.tcpQueries.length,
      (seen) => seen >= count,
    );
  };

  test('ask() returns the answer without EDNS, and stops using EDNS for an hour once TCP confirms the refusal', async () => {
    upstream.udpScript = refusing;
    upstream.tcpScript = refusing;
    expect(lastOctet(await ask())).toBe(1);
    const askAgain = async (): Promise<boolean> => {
      await ask();
      return hasEdns(upstream.udpQueries.at(-2)!);
    };
    await until('a question that begins without EDNS', askAgain, (edns) => !edns, { pauseMs: 1 });
    expect(upstream.tcpQueries.map(hasEdns)).toEqual([true, false]);
    nowMs += 3_600_001;
    const before = upstream.udpQueries.length;
    expect(lastOctet(await ask())).toBe(1);
    expect(upstream.udpQueries.slice(before).map(hasEdns)).toEqual([true, false]);
  });

  test('ask() keeps EDNS after forged refusals, and checks refusals over TCP once a minute (CVE-2026-52690)', async () => {
    upstream.udpScript = refusing;
    upstream.tcpScript = plain;
    for (let i = 0; i < 5; i++) expect(lastOctet(await ask())).toBe(1);
    await untilAsked(1);
    for (let i = 0; i < 20; i++) expect(lastOctet(await ask())).toBe(1);
    expect(hasEdns(upstream.udpQueries.at(-2)!)).toBe(true);
    expect(upstream.tcpQueries).toHaveLength(1);
    nowMs += 60_001;
    await ask();
    await untilAsked(2);
  });

  test('ask() accepts refusals of EDNS over UDP only after TCP has failed eight times', async () => {
    upstream.udpScript = refusing;
    upstream.onConnection = (connection) => connection.destroy();
    const connectionsAfter = async (): Promise<number> => {
      expect(lastOctet(await ask())).toBe(1);
      if (upstream.tcpConnections < 8) expect(hasEdns(upstream.udpQueries.at(-2)!)).toBe(true);
      return upstream.tcpConnections;
    };
    await until('eight connections', connectionsAfter, (count) => count >= 8, { pauseMs: 1 });
    const queriesOfNext = async (): Promise<number> => {
      const before = upstream.udpQueries.length;
      await ask();
      return upstream.udpQueries.length - before;
    };
    await until('a question that is asked once', queriesOfNext, (count) => count === 1, { pauseMs: 1 });
    expect(hasEdns(upstream.udpQueries.at(-1)!)).toBe(false);
  });

  test('ask() queries without EDNS after a refusal without question, and still accepts the first answer', async () => {
    const bare = (query: ReceivedQuery): Uint8Array =>
      octets(query.bytes.subarray(0, 2), [0x81, 0x81], new Uint8Array(8));
    upstream.udpScript = (query) => {
      if (hasEdns(query)) query.reply(bare(query));
      else plain(query, 0);
    };
    expect(lastOctet(await ask())).toBe(1);
    upstream.udpScript = (query) => {
      if (hasEdns(query)) query.reply(bare(query));
      else for (const held of upstream.udpQueries.filter(hasEdns)) held.reply(reply(held, { lastOctet: 9 }));
    };
    expect(lastOctet(await ask())).toBe(9);
  });
});
