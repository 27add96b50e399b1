import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { addressToText } from '../../shared/net/ip.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { describeCalls, systemCalls } from '../../test/support/parts/system-calls.ts';
import { until } from '../../test/support/parts/until.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { BATCH_SIZE, SLOT_SIZE, UdpBatch } from './udp-batch.ts';
import { openUdpSockets } from './udp-sockets.ts';

interface Client {
  readonly socket: Socket;
  /** Source address and first byte of each datagram. */
  readonly received: [string, number][];
}

const clients: Client[] = [];
const fds: number[] = [];
let port: number;

beforeEach(async () => {
  port = await freePort(['127.0.0.1', '::1']);
});
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.close();
  for (const fd of fds.splice(0)) systemCalls.close(fd);
});

const open = (...addresses: string[]): UdpBatch => {
  const control = new Int32Array(new SharedArrayBuffer(WorkerControl.BYTES));
  const sockets = openUdpSockets(systemCalls, control, addresses, port);
  fds.push(...sockets.map(({ fd }) => fd));
  return new UdpBatch(systemCalls, sockets, () => undefined);
};

const connectClient = async (family: 'udp4' | 'udp6' = 'udp4'): Promise<Client> => {
  const socket = createSocket(family);
  const received: [string, number][] = [];
  socket.on('message', (message, from) => received.push([from.address, message[0]!]));
  socket.bind(0, family === 'udp4' ? '127.0.0.1' : '::1');
  await once(socket, 'listening');
  clients.push({ socket, received });
  return clients.at(-1)!;
};

/** Sends datagrams and waits until the kernel has accepted them. */
const send = async (client: Client, to: string, ...messages: Uint8Array[]): Promise<void> => {
  for (const message of messages)
    await new Promise<void>((resolve, reject) => {
      client.socket.send(message, port, to, (error) => (error === null ? resolve() : reject(error)));
    });
};

describeCalls('UdpBatch.receive(), which receives up to 64 datagrams,', () => {
  test('puts each datagram into a slot, with the address of its sender', async () => {
    const batch = open('127.0.0.1');
    const client = await connectClient();
    await send(client, '127.0.0.1', Uint8Array.of(1, 2, 3), Uint8Array.of(4));
    expect(batch.receive(0, true)).toBe(2);
    expect([batch.lengthOf(0), batch.lengthOf(1)]).toEqual([3, 1]);
    expect([...batch.slots.subarray(0, 3), batch.slots[SLOT_SIZE]]).toEqual([1, 2, 3, 4]);
    expect(addressToText(batch.clients.subarray(16, 32))).toBe('127.0.0.1');
  });

  test('receives nothing if nothing was sent, with or without waiting', () => {
    const batch = open('127.0.0.1');
    expect([batch.receive(0, false), batch.receive(0, true)]).toEqual([0, 0]);
  });

  test('receives 64 datagrams at most, and the rest with the next call', async () => {
    const batch = open('127.0.0.1');
    const client = await connectClient();
    await send(client, '127.0.0.1', ...Array.from({ length: BATCH_SIZE + 3 }, (_, at) => Uint8Array.of(at)));
    expect([batch.receive(0, false), batch.receive(0, false)]).toEqual([BATCH_SIZE, 3]);
    expect(batch.slots[0]).toBe(BATCH_SIZE);
  });

  test('truncates a datagram that is longer than a slot', async () => {
    const batch = open('127.0.0.1');
    const client = await connectClient();
    await send(client, '127.0.0.1', new Uint8Array(SLOT_SIZE), new Uint8Array(SLOT_SIZE + 1));
    expect(batch.receive(0, true)).toBe(2);
    expect([batch.lengthOf(0), batch.lengthOf(1)]).toEqual([SLOT_SIZE, SLOT_SIZE]);
  });

  test('returns the IPv4 address of an IPv4 client of an IPv6 socket', async () => {
    const batch = open('::', '0.0.0.0');
    const client = await connectClient();
    await send(client, '127.0.0.1', Uint8Array.of(1));
    expect(batch.receive(0, true)).toBe(1);
    expect(addressToText(batch.clients.subarray(0, 16))).toBe('127.0.0.1');
  });
});

describeCalls('UdpBatch.reply(), which sends replies in a batch,', () => {
  test('sends the reply in each slot to its sender, in any order, and skips slots without a reply', async () => {
    const batch = open('127.0.0.1');
    const [one, other] = [await connectClient(), await connectClient()];
    for (const round of [0, 10]) {
      await send(one, '127.0.0.1', Uint8Array.of(1), Uint8Array.of(2));
      await send(other, '127.0.0.1', Uint8Array.of(3));
      expect(batch.receive(0, true)).toBe(3);
      for (const slot of [2, 0]) {
        batch.slots[slot * SLOT_SIZE] = round + slot;
        batch.reply(slot, 1);
      }
      batch.send();
    }
    await until(
      'both clients to have their replies',
      () => [one, other].map(({ received }) => received.length),
      (counts) => counts.join() === '2,2',
    );
    expect(one.received.map(([, first]) => first)).toEqual([0, 10]);
    expect(other.received.map(([, first]) => first)).toEqual([2, 12]);
  });

  test('sends from the queried address if the socket is bound to a wildcard', async () => {
    const batch = open('::', '0.0.0.0');
    const [v4, v6] = [await connectClient(), await connectClient('udp6')];
    for (const [client, to] of [
      [v4, '127.0.0.2'],
      [v4, '127.0.0.3'],
      [v6, '::1'],
    ] as const) {
      await send(client, to, Uint8Array.of(1));
      expect(batch.receive(0, true)).toBe(1);
      batch.reply(0, 1);
      batch.send();
    }
    await until(
      'both clients to have their replies',
      () => [v4, v6].map(({ received }) => received.length),
      (counts) => counts.join() === '2,1',
    );
    expect([...v4.received, ...v6.received].map(([from]) => from)).toEqual(['127.0.0.2', '127.0.0.3', '::1']);
  });
});
