import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { FrameReader, frame } from '../../shared/dns/framing.ts';
import { Protocol } from '../../shared/query-log.ts';
import { createConnectionTable } from '../../shared/memory/connection-table.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { ListenError } from '../listeners/listen-error.ts';
import { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { MAX_QUERIES_IN_FLIGHT, MAX_UNSENT_BYTES } from './stream-connection.ts';
import type { StreamClient, StreamHandler } from './stream-connection.ts';
import type { StreamPort } from './stream-port.ts';
import type { ListenOptions } from './client-port.ts';
import { listenTcp } from './tcp.ts';

let listener: StreamPort | undefined;
const clients: Socket[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await listener?.close();
  listener = undefined;
});

/** A header of PROXY protocol v2 without a client (LOCAL). */
const HEADER = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');

const admission = {
  senders: new ProxySenders(null),
  mayConnect: () => true,
  reporter: { count: () => undefined },
  logger: new MemoryLogger(),
};

const echo: StreamHandler = (message, client) => client.send(message);

function limitOf(maxPerAddress: number, max = 1024): ConnectionLimit {
  const table = createConnectionTable(1, 7);
  return new ConnectionLimit({ table, worker: 0, protocol: Protocol.tcp, maxPerAddress, max });
}

async function listen(
  handler: StreamHandler = echo,
  options: Partial<ListenOptions> = {},
): Promise<StreamPort> {
  listener = await listenTcp(
    { addresses: ['127.0.0.1'], port: 0, limit: limitOf(0), admission, ...options },
    handler,
  );
  return listener;
}

/** Waits until `count` queries are held. */
function untilHeld(held: readonly unknown[], count: number): Promise<unknown> {
  return until(
    `query ${String(count)}`,
    () => held.length,
    (now) => now >= count,
  );
}

interface Client {
  readonly socket: Socket;
  readonly received: Uint8Array[];
  /** Resolves when this many messages have arrived. */
  readonly messages: (count: number) => Promise<Uint8Array[]>;
  readonly closed: () => Promise<unknown>;
}

function client(port: number, host = '127.0.0.1'): Client {
  const socket = connect({ port, host, noDelay: true });
  clients.push(socket);
  const received: Uint8Array[] = [];
  const frames = new FrameReader((message) => {
    received.push(message.slice());
    return true;
  });
  socket.on('data', (chunk: Buffer) => frames.push(chunk));
  socket.on('error', () => undefined);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  const messages = async (count: number): Promise<Uint8Array[]> => {
    await until(
      `message ${String(count)} or the end of the connection`,
      () => received.length,
      (now) => now >= count || socket.destroyed,
    );
    return received;
  };
  return { socket, received, messages, closed: () => within('the connection to close', ended) };
}

function message(number: number, size = 20): Uint8Array {
  const bytes = new Uint8Array(size);
  bytes[0] = number >>> 8;
  bytes[1] = number;
  return bytes;
}

function portOf(of: StreamPort): number {
  return of.addresses[0]!.port;
}

describe('listenTcp(), a DNS over TCP listener,', () => {
  test.each([
    ['127.0.0.1', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1]],
    ['::1', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
  ])('passes the address of the client to the handler: %s', async (address, expected) => {
    const seen: StreamClient[] = [];
    const on = await listen(
      (bytes, from) => {
        seen.push(from);
        from.send(bytes);
      },
      { addresses: [address] },
    );
    const { socket, messages } = client(portOf(on), address);
    socket.write(frame(message(1)));
    await messages(1);
    expect([...seen[0]!.address]).toEqual(expected);
    expect(seen[0]).toMatchObject({ protocol: Protocol.tcp });
  });

  test('serves IPv4 and IPv6 wildcards together, and a second listener on the same port', async () => {
    const on = await listen(echo, { addresses: ['0.0.0.0'] });
    const port = portOf(on);
    const second = await listenTcp(
      { addresses: ['0.0.0.0', '::'], port, limit: limitOf(0), admission },
      echo,
    );
    expect(second.addresses).toEqual([
      { address: '0.0.0.0', port },
      { address: '::', port },
    ]);
    const { socket, messages } = client(port, '::1');
    socket.write(frame(message(5)));
    expect(await messages(1)).toEqual([message(5)]);
    await second.close();
  });

  test('fails with an error that names the address, and leaves no socket open', async () => {
    const failing = listenTcp(
      { addresses: ['127.0.0.1', '192.0.2.1'], port: 0, limit: limitOf(0), admission },
      echo,
    );
    await expect(failing).rejects.toThrow(ListenError);
    await expect(failing).rejects.toMatchObject({ address: '192.0.2.1', code: 'EADDRNOTAVAIL' });
  });

  test('receives and sends messages of 65,535 bytes', async () => {
    const on = await listen();
    const { socket, messages } = client(portOf(on));
    const large = message(7, 65_535);
    socket.write(frame(large));
    expect(await messages(1)).toEqual([large]);
  });

  test('sends replies out of order', async () => {
    const held: [Uint8Array, StreamClient][] = [];
    const on = await listen((bytes, from) => {
      held.push([bytes.slice(), from]);
      if (held.length === 3) for (const [each, to] of held.reverse()) to.send(each);
    });
    const { socket, messages } = client(portOf(on));
    socket.write(Buffer.concat([1, 2, 3].map((n) => frame(message(n)))));
    expect((await messages(3)).map((bytes) => bytes[1])).toEqual([3, 2, 1]);
  });

  test('answers a client that half-closes the connection, then closes it', async () => {
    const on = await listen((bytes, from) => {
      const copy = bytes.slice();
      setImmediate(() => from.send(copy));
    });
    const { socket, received, closed } = client(portOf(on));
    socket.end(Buffer.concat([frame(message(1)), frame(message(2))]));
    await closed();
    expect(received).toEqual([message(1), message(2)]);
  });

  test('answers all of a very large number of pipelined queries without deep recursion (CVE-2025-30193)', async () => {
    const on = await listen();
    const { socket, messages } = client(portOf(on));
    const count = 20_000;
    socket.write(Buffer.concat(Array.from({ length: count }, (_, i) => frame(message(i)))));
    const got = await messages(count);
    expect(got.map((bytes) => (bytes[0]! << 8) | bytes[1]!)).toEqual(
      Array.from({ length: count }, (_, i) => i),
    );
  });

  test('reads at most its limit of queries before some of them are answered', async () => {
    const held: StreamClient[] = [];
    const on = await listen((_bytes, from) => held.push(from));
    const { socket, messages } = client(portOf(on));
    socket.write(
      Buffer.concat(Array.from({ length: MAX_QUERIES_IN_FLIGHT + 50 }, (_, i) => frame(message(i)))),
    );
    await untilHeld(held, MAX_QUERIES_IN_FLIGHT);
    for (let i = 0; i < 20; i++) await new Promise((done) => setImmediate(done));
    expect(held).toHaveLength(MAX_QUERIES_IN_FLIGHT);
    for (let i = 0; i < MAX_QUERIES_IN_FLIGHT + 50; i++) {
      await untilHeld(held, i + 1);
      held[i]!.send(message(i));
    }
    expect(await messages(MAX_QUERIES_IN_FLIGHT + 50)).toHaveLength(MAX_QUERIES_IN_FLIGHT + 50);
  });

  test('stops reading from a client that does not read its answers', async () => {
    let asked = 0;
    const large = new Uint8Array(60_000);
    const on = await listen((_bytes, from) => {
      asked++;
      from.send(large);
    });
    const { socket, messages } = client(portOf(on));
    socket.pause();
    const count = 2000;
    socket.write(Buffer.concat(Array.from({ length: count }, (_, i) => frame(message(i)))));
    await until(
      'more answers than may wait',
      () => asked * large.length,
      (bytes) => bytes > MAX_UNSENT_BYTES,
    );
    for (let i = 0; i < 50; i++) await new Promise((done) => setImmediate(done));
    expect(asked).toBeLessThan(count);
    socket.resume();
    expect(await messages(count)).toHaveLength(count);
  });

  test.each([
    ['an empty message', Uint8Array.of(0, 0)],
    ['half a header', frame(new Uint8Array(11))],
  ])(
    'closes a connection that delivers %s, and continues to serve other connections',
    async (_what, bytes) => {
      const on = await listen();
      const bad = client(portOf(on));
      const well = client(portOf(on));
      bad.socket.write(bytes);
      await bad.closed();
      well.socket.write(frame(message(1)));
      expect(await well.messages(1)).toEqual([message(1)]);
    },
  );

  test('closes connections over the limit of an address at once, and later accepts new connections', async () => {
    const on = await listen(echo, { limit: limitOf(2) });
    const first = client(portOf(on));
    const second = client(portOf(on));
    for (const each of [first, second]) {
      each.socket.write(frame(message(1)));
      await each.messages(1);
    }
    const third = client(portOf(on));
    await third.closed();
    first.socket.end();
    await first.closed();
    const fourth = client(portOf(on));
    fourth.socket.write(frame(message(4)));
    expect(await fourth.messages(1)).toEqual([message(4)]);
    expect(third.received).toEqual([]);
  });

  test('closes connections over the total limit', async () => {
    const on = await listen(echo, { limit: limitOf(0, 1) });
    const first = client(portOf(on));
    first.socket.write(frame(message(1)));
    await first.messages(1);
    await client(portOf(on)).closed();
    first.socket.write(frame(message(2)));
    expect(await first.messages(2)).toHaveLength(2);
  });

  test.each([
    ['says nothing', () => undefined],
    ['has sent half a message', (socket: Socket) => void socket.write(frame(message(1)).subarray(0, 9))],
    ['drips bytes', (socket: Socket) => void drip(socket)],
    ['asks what is never answered', (socket: Socket) => void socket.write(frame(message(1)))],
  ])('closes an idle connection: the client %s', async (_what, act) => {
    const on = await listen(() => undefined, { idleTimeoutMs: 80 });
    const { socket, closed, received } = client(portOf(on));
    await within('the connection', once(socket, 'connect'));
    act(socket);
    await closed();
    expect(received).toEqual([]);
  });

  test('continues after clients reset their connections', async () => {
    const held: StreamClient[] = [];
    const on = await listen((bytes, from) => {
      held.push(from);
      if (held.length > 20) from.send(bytes);
    });
    for (let i = 0; i < 20; i++) {
      const { socket } = client(portOf(on));
      await within('the connection', once(socket, 'connect'));
      socket.write(frame(message(i)));
      await untilHeld(held, i + 1);
      socket.resetAndDestroy();
    }
    for (const gone of held) gone.send(message(1));
    const { socket, messages } = client(portOf(on));
    socket.write(frame(message(3)));
    expect(await messages(1)).toEqual([message(3)]);
  });

  test.each([
    ['serves one whose header has yet to come, when it lingers', true, [message(7)]],
    ['ends one whose header has yet to come, when it does not linger', false, []],
  ])('close() %s', async (_, lingers, replies) => {
    const senders = new ProxySenders(['127.0.0.1']);
    const port = portOf(await listen(echo, { admission: { ...admission, senders } }));
    const late = client(port);
    const other = client(port);
    other.socket.write(HEADER);
    other.socket.write(frame(message(1)));
    // Connections are accepted in order.
    await other.messages(1);
    const closing = listener!.close(lingers);
    late.socket.write(HEADER);
    late.socket.write(frame(message(7)));
    expect(await late.messages(1)).toEqual(replies);
    await Promise.all([closing, late.closed(), other.closed()]);
  });

  test('close() answers queries in flight, then closes every connection', async () => {
    const held: StreamClient[] = [];
    const on = await listen((_bytes, from) => held.push(from));
    const idle = client(portOf(on));
    await within('the connection', once(idle.socket, 'connect'));
    const busy = client(portOf(on));
    busy.socket.write(frame(message(1)));
    await untilHeld(held, 1);
    const closing = on.close();
    listener = undefined;
    await idle.closed();
    held[0]!.send(message(1));
    await busy.closed();
    await within('the listener to close', closing);
    expect(busy.received).toEqual([message(1)]);
  });
});

/** Sends a message that never ends, byte by byte. */
async function drip(socket: Socket): Promise<void> {
  socket.write(Uint8Array.of(0xff, 0xff));
  while (!socket.destroyed) {
    socket.write(Uint8Array.of(1));
    await new Promise((done) => setTimeout(done, 10));
  }
}
