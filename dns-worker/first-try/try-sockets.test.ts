import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Header, readU16, writeU16 } from '../../shared/dns/wire.ts';
import {
  createFirstServers,
  firstServerAt,
  FirstServerRecord,
} from '../../shared/memory/first-server-layout.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { DEFAULT_HARDENING } from '../../shared/policy/hardening-settings.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { describeCalls, systemCalls } from '../../test/support/parts/system-calls.ts';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import { until } from '../../test/support/parts/until.ts';
import { Capabilities } from '../resolve/capability/capabilities.ts';
import { Hardening } from '../resolve/capability/hardening.ts';
import { BUSY, MAX_AGE_MS, MAX_QUESTIONS } from '../resolve/transport/upstream-sockets.ts';
import { FirstServer } from './first-servers.ts';
import { BATCH_SIZE, TrySockets } from './try-sockets.ts';

const CAPACITY = 256;
/** Offset of a byte after the header by which the test identifies a message. */
const MARK_AT = Header.SIZE;

let upstream: ScriptedUpstream;
let sockets: TrySockets;
let server: FirstServer;
/** Reported events in order: the event, its exchange, and the mark of a received message. */
let events: [string, number, number?][];
let isTurnOver: boolean;
beforeEach(async () => {
  upstream = await ScriptedUpstream.start();
  server = serverAt(upstream.ip, upstream.port);
  events = [];
  isTurnOver = false;
  sockets = new TrySockets(systemCalls, CAPACITY, {
    get isTurnOver() {
      return isTurnOver;
    },
    batchSize: BATCH_SIZE,
    received: (exchange, message) => void events.push(['received', exchange, message[MARK_AT]!]),
    failed: (exchange) => end('failed', exchange),
    exposed: (exchange) => end('exposed', exchange),
  });
});
afterEach(async () => {
  sockets.close();
  if (!upstream.isClosed) await upstream.close();
});

function end(event: string, exchange: number): void {
  events.push([event, exchange]);
  sockets.leave(exchange);
}

function serverAt(ip: string, port: number): FirstServer {
  const memory = createFirstServers();
  new Uint8Array(memory, firstServerAt(0), 16).set(addressFromText(ip)!);
  new Int32Array(memory, firstServerAt(0))[FirstServerRecord.PORT / 4] = port;
  const records = new Capabilities(new TestClock());
  return new FirstServer(
    memory,
    0,
    1,
    (address, at) => new Hardening(records.of({ ip: address, port: at }, 'udp'), DEFAULT_HARDENING, false),
  );
}

/** A message with this id and mark. */
function messageOf(id: number, mark: number): Uint8Array {
  const message = new Uint8Array(Header.SIZE + 4);
  writeU16(message, Header.ID, id);
  message[MARK_AT] = mark;
  return message;
}

/** Queues a query with the exchange number as its mark; `flush()` sends it. Returns its message id. */
function ask(exchange: number, nowMs = 0, to = server): number {
  const id = sockets.join(exchange, to, nowMs);
  const message = messageOf(id, exchange);
  sockets.bufferFor(exchange).set(message);
  sockets.send(message.length);
  return id;
}

/** Waits until the server has received `count` messages; returns the mark and port of each. */
async function arrived(count: number): Promise<{ mark: number; port: number }[]> {
  const queries = await until(
    'the questions to arrive',
    () => upstream.udpQueries,
    ({ length }) => length >= count,
  );
  return queries.map(({ bytes, port }) => ({ mark: bytes[MARK_AT]!, port }));
}

/** Receives datagrams until `count` events were reported. */
async function reported(count: number): Promise<typeof events> {
  return until(
    'the events',
    () => {
      sockets.receive();
      return events;
    },
    ({ length }) => length >= count,
  );
}

/** Receives until a datagram has arrived. */
async function receiveOne(): Promise<void> {
  await until('a datagram', () => sockets.receive());
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describeCalls('TrySockets, the UDP sockets of an answer thread,', () => {
  test('few queries in flight are sent from one port per query, each with its own ID', async () => {
    const ids = numbers(20).map((exchange) => ask(exchange));
    sockets.flush();
    const queries = await arrived(20);
    expect(new Set(queries.map(({ port }) => port)).size).toBe(20);
    expect(queries.map(({ mark }) => mark).sort((a, b) => a - b)).toEqual(numbers(20));
    const sent = upstream.udpQueries.map(({ bytes }) => readU16(bytes, Header.ID));
    expect(sent.sort((a, b) => a - b)).toEqual([...ids].sort((a, b) => a - b));
  });

  test('up to 16 queries share a port under load, each with its own ID', async () => {
    server.inFlight = BUSY;
    const ids = numbers(MAX_QUESTIONS * 2 + 1).map((exchange) => ask(exchange));
    sockets.flush();
    const queries = await arrived(ids.length);
    const perPort = new Map<number, number>();
    for (const { port } of queries) perPort.set(port, (perPort.get(port) ?? 0) + 1);
    expect([...perPort.values()].sort((a, b) => b - a)).toEqual([MAX_QUESTIONS, MAX_QUESTIONS, 1]);
    expect(new Set(ids.slice(0, MAX_QUESTIONS)).size).toBe(MAX_QUESTIONS);
  });

  test('a port is closed to new queries after a while, even under load', async () => {
    server.inFlight = BUSY;
    ask(0, 0);
    ask(1, MAX_AGE_MS - 1);
    ask(2, MAX_AGE_MS);
    sockets.flush();
    const ports = new Map((await arrived(3)).map(({ mark, port }) => [mark, port]));
    expect(ports.get(1)).toBe(ports.get(0));
    expect(ports.get(2)).not.toBe(ports.get(0));
  });

  test('servers do not share a port', async () => {
    await using other = await ScriptedUpstream.start();
    const second = serverAt(other.ip, other.port);
    server.inFlight = BUSY;
    second.inFlight = BUSY;
    ask(0);
    ask(1, 0, second);
    ask(2);
    sockets.flush();
    expect((await arrived(2)).map(({ mark }) => mark)).toEqual([0, 2]);
    await until('the question to the other server', () => other.udpQueries.length);
    expect(other.udpQueries.map(({ bytes }) => bytes[MARK_AT])).toEqual([1]);
  });

  test('the reply to each query on a shared port is reported', async () => {
    server.inFlight = BUSY;
    const ids = numbers(4).map((exchange) => ask(exchange));
    sockets.flush();
    await arrived(4);
    for (const exchange of [2, 0, 3, 1])
      upstream.udpQueries[0]!.reply(messageOf(ids[exchange]!, 100 + exchange));
    expect(await reported(4)).toEqual([2, 0, 3, 1].map((exchange) => ['received', exchange, 100 + exchange]));
  });

  test('a reply with an unknown ID closes its port, and all queries on the port are reported as exposed', async () => {
    server.inFlight = BUSY;
    const ids = [ask(0), ask(1), ask(2)];
    sockets.flush();
    await arrived(3);
    sockets.leave(1);
    let guess = 0;
    while (ids.includes(guess)) guess++;
    const { port } = upstream.udpQueries[0]!;
    upstream.sendUdp(messageOf(guess, 9), port);
    expect(await reported(2)).toEqual([
      ['exposed', 0],
      ['exposed', 2],
    ]);
    ask(3);
    sockets.flush();
    expect((await arrived(4))[3]!.port).not.toBe(port);
  });

  test('a late reply to a finished query is ignored, and the port of the other queries stays open', async () => {
    server.inFlight = BUSY;
    const [late, other] = [ask(0), ask(1)];
    sockets.flush();
    await arrived(2);
    sockets.leave(0);
    upstream.udpQueries[0]!.reply(messageOf(late, 100));
    await receiveOne();
    expect(events).toEqual([]);
    upstream.udpQueries[0]!.reply(messageOf(other, 101));
    expect(await reported(1)).toEqual([['received', 1, 101]]);
  });

  test('a datagram without a DNS header is ignored', async () => {
    const id = ask(0);
    sockets.flush();
    await arrived(1);
    upstream.udpQueries[0]!.reply(new Uint8Array(Header.SIZE - 1));
    await receiveOne();
    expect(events).toEqual([]);
    upstream.udpQueries[0]!.reply(messageOf(id, 7));
    expect(await reported(1)).toEqual([['received', 0, 7]]);
  });

  test('replies are only accepted from the address of the server', async () => {
    await using forger = await ScriptedUpstream.start();
    const id = ask(0);
    sockets.flush();
    await arrived(1);
    forger.sendUdp(messageOf(id, 66), upstream.udpQueries[0]!.port);
    upstream.udpQueries[0]!.reply(messageOf(id, 7));
    expect(await reported(1)).toEqual([['received', 0, 7]]);
  });

  test("a query is reported as failed when the server's port is closed", async () => {
    await upstream.close();
    ask(0);
    sockets.flush();
    expect(await reported(1)).toEqual([['failed', 0]]);
  });

  test('replies are left for the next turn of the event loop when the current turn is over', async () => {
    ask(0);
    sockets.flush();
    await arrived(1);
    upstream.udpQueries[0]!.reply(messageOf(readU16(upstream.udpQueries[0]!.bytes, Header.ID), 7));
    isTurnOver = true;
    await until('a reply that is left', () => {
      expect(sockets.receive()).toBe(0);
      return sockets.hasLeft;
    });
    isTurnOver = false;
    expect(await reported(1)).toEqual([['received', 0, 7]]);
    expect(sockets.hasLeft).toBe(false);
  });

  test('a missing socket is reported if none can be opened', () => {
    const unreachable = serverAt('2001:db8::1', 53);
    const calls = { ...systemCalls, socket: () => -1 };
    const without = new TrySockets(calls, 1, {
      isTurnOver: false,
      batchSize: BATCH_SIZE,
      received: () => 0,
      failed: () => 0,
      exposed: () => 0,
    });
    expect(without.join(0, unreachable, 0)).toBe(-1);
    without.close();
  });

  test('nothing is sent for a finished query, even if another query reuses its file descriptor', async () => {
    ask(0);
    sockets.leave(0);
    ask(1);
    sockets.flush();
    expect((await arrived(1)).map(({ mark }) => mark)).toEqual([1]);
  });

  test('a port is closed after the last of its queries, so that later replies are ignored', async () => {
    const id = ask(0);
    sockets.flush();
    const port = (await arrived(1))[0]!.port;
    sockets.leave(0);
    const next = ask(1);
    sockets.flush();
    await arrived(2);
    upstream.sendUdp(messageOf(id, 100), port);
    upstream.udpQueries[1]!.reply(messageOf(next, 101));
    expect(await reported(1)).toEqual([['received', 1, 101]]);
  });
});
