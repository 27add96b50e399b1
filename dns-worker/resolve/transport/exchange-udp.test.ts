import { createSocket } from 'node:dgram';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  a,
  idOf,
  octets,
  question,
  questionOf,
  response,
  u16,
} from '../../../test/support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import type { ReceivedQuery } from '../../../test/support/dns/scripted-upstream.ts';
import { within } from '../../../test/support/parts/until.ts';
import type { Exchange, ExchangeOutcome, ServerAddress } from './exchange.ts';
import { exchangeUdp } from './exchange-udp.ts';
import { UdpSockets } from './upstream-sockets.ts';

const WWW = question('www.example.org', 'A');
let upstream: ScriptedUpstream;
let exchange: Exchange | undefined;

function address(): ServerAddress {
  return { ip: upstream.ip, port: upstream.port, family: upstream.ip.includes(':') ? 6 : 4 };
}

function ask(asked = WWW, edns = true, server = address()): Promise<ExchangeOutcome> {
  const outcome = new Promise<ExchangeOutcome>((resolve) => {
    exchange = exchangeUdp(new UdpSockets(server), asked, edns, null, resolve);
  });
  return within('the outcome', outcome);
}

function good(query: ReceivedQuery, ip = '192.0.2.1'): Uint8Array {
  return response(questionOf(query.bytes), { id: idOf(query.bytes), answers: [a('www.example.org', ip)] });
}

/** The last byte of the address in the answer. */
function lastOctet(outcome: ExchangeOutcome): number | undefined {
  return outcome.kind === 'answer' ? outcome.answer.body.at(-1) : undefined;
}

beforeEach(async () => {
  upstream = await ScriptedUpstream.start();
});

afterEach(async () => {
  exchange?.cancel();
  await upstream.close();
});

describe('exchangeUdp, one query over UDP,', () => {
  test('sends RD, an EDNS size of 1232 and the DO and CD bits of the query', async () => {
    upstream.udpScript = (query) => query.reply(good(query));
    await ask(question('www.example.org', 'A', { dnssecOk: true, checkingDisabled: true }));
    const { bytes } = upstream.udpQueries[0]!;
    expect([...bytes.subarray(2, 12)]).toEqual([0x01, 0x10, 0, 1, 0, 0, 0, 0, 0, 1]);
    expect([...bytes.subarray(-11)]).toEqual([0, ...u16(41), ...u16(1232), 0, 0, 0x80, 0, 0, 0]);
    await ask(WWW, false);
    expect(upstream.udpQueries[1]!.bytes).toHaveLength(bytes.length - 11);
  });

  test('sends each query from a new port with a new ID', async () => {
    upstream.udpScript = (query) => query.reply(good(query));
    for (let i = 0; i < 40; i++) await ask();
    expect(new Set(upstream.udpQueries.map(({ port }) => port)).size).toBeGreaterThan(30);
    expect(new Set(upstream.udpQueries.map(({ bytes }) => idOf(bytes))).size).toBeGreaterThan(30);
  });

  test('reaches a server over IPv6', async () => {
    await upstream.close();
    upstream = await ScriptedUpstream.start('::1');
    upstream.udpScript = (query) => query.reply(good(query));
    expect(lastOctet(await ask())).toBe(1);
  });

  test.each<[string, (query: ReceivedQuery) => Uint8Array]>([
    ['another name', (query) => response(question('www.example.com', 'A'), { id: idOf(query.bytes) })],
    ['another type', (query) => response(question('www.example.org', 'AAAA'), { id: idOf(query.bytes) })],
    ['QR clear', (query) => query.bytes],
    ['opcode NOTIFY', (query) => response(WWW, { id: idOf(query.bytes), flags: 0xa180 })],
    ['two questions', (query) => octets(u16(idOf(query.bytes)), [0x81, 0x80, 0, 2], good(query).subarray(6))],
    ['a record cut short', (query) => good(query).subarray(0, -2)],
    [
      'a compression loop',
      (query) =>
        response(WWW, { id: idOf(query.bytes), answers: [a(Uint8Array.of(0xc0, 33), '192.0.2.66')] }),
    ],
    ['nothing', () => new Uint8Array(0)],
    ['half a header', (query) => good(query).subarray(0, 7)],
  ])('ignores a datagram with %s and continues to wait (TuDoor, CVE-2026-42389)', async (_what, forge) => {
    upstream.udpScript = (query) => {
      query.reply(forge(query));
      query.reply(good(query));
    };
    expect(lastOctet(await ask())).toBe(1);
  });

  test('accepts only replies from the queried server', async () => {
    const stranger = createSocket('udp4');
    upstream.udpScript = (query) => {
      stranger.send(good(query, '192.0.2.66'), query.port, '127.0.0.1', () => query.reply(good(query)));
    };
    expect(lastOctet(await ask())).toBe(1);
    stranger.close();
  });

  test('closes the port at the first of 5,000 forged replies', async () => {
    upstream.udpScript = (query) => {
      for (let i = 1; i <= 5000; i++) {
        const forged = response(WWW, {
          id: (idOf(query.bytes) + i) & 0xffff,
          answers: [a('www.example.org', '192.0.2.66')],
        });
        upstream.sendUdp(forged, query.port);
      }
    };
    expect(await ask()).toEqual({ kind: 'exposed' });
  });

  test('reports that an answer was truncated', async () => {
    upstream.udpScript = (query) => query.reply(response(WWW, { id: idOf(query.bytes), flags: 0x8380 }));
    expect(await ask()).toEqual({ kind: 'truncated' });
  });

  test('fails at once if no server listens', async () => {
    const server = address();
    await upstream.close();
    expect(await ask(WWW, true, server)).toEqual({
      kind: 'failed',
      reason: 'network',
      detail: 'ECONNREFUSED',
    });
    upstream = await ScriptedUpstream.start();
  });

  test('fails if the system has no route', async () => {
    const outcome = await ask(WWW, true, { ip: '255.255.255.255', port: 53, family: 4 });
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'network', detail: 'EACCES' });
  });

  test('resend() sends the same datagram from the same port', async () => {
    upstream.udpScript = (query, index) => {
      if (index === 0) exchange?.resend();
      else query.reply(good(query));
    };
    expect(lastOctet(await ask())).toBe(1);
    const [first, second] = upstream.udpQueries;
    expect(second?.port).toBe(first?.port);
    expect([...second!.bytes]).toEqual([...first!.bytes]);
  });

  test('cancel() before the socket is connected sends nothing and does not call back', async () => {
    let ended = 0;
    const cancelled = exchangeUdp(new UdpSockets(address()), WWW, true, null, () => ended++);
    cancelled.cancel();
    cancelled.cancel();
    cancelled.resend();
    upstream.udpScript = (query) => query.reply(good(query));
    await ask();
    expect(upstream.udpQueries).toHaveLength(1);
    expect(ended).toBe(0);
  });
});
