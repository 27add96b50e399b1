import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FrameReader, frame } from '../../shared/dns/framing.ts';
import { Protocol } from '../../shared/query-log.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { MAX_QUERIES_IN_FLIGHT, MAX_UNSENT_BYTES, StreamConnection } from './stream-connection.ts';

const PEER = { address: new Uint8Array(16), protocol: Protocol.tcp };

let server: Server;
let client: Socket;
let connection: StreamConnection;
/** Messages that the handler has received but not answered. */
let taken: Uint8Array[];
/** Messages that the client has received. */
let received: Uint8Array[];

beforeEach(async () => {
  taken = [];
  received = [];
  server = createServer({ allowHalfOpen: true, noDelay: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
  const [socket] = (await within('the connection', once(server, 'connection'))) as [Socket];
  connection = new StreamConnection(socket, PEER, (message) => void taken.push(message.slice()));
  const own = received;
  const frames = new FrameReader((message) => {
    own.push(message.slice());
    return true;
  });
  client.on('data', (chunk: Buffer) => frames.push(chunk));
  client.on('error', () => undefined);
});
afterEach(() => {
  connection.destroy();
  client.destroy();
  server.close();
});

function message(number: number, size = 20): Uint8Array {
  const bytes = new Uint8Array(size);
  bytes[1] = number;
  return bytes;
}

/** Sends this many messages in one piece. */
function ask(count: number): void {
  client.write(Buffer.concat(Array.from({ length: count }, (_, number) => frame(message(number)))));
}

/** Waits until `count` messages have been passed on. */
const untilTaken = (count: number): Promise<unknown> =>
  until(
    `message ${String(count)}`,
    () => taken.length,
    (now) => now === count,
  );
/** Waits until the client has `count` replies. */
const untilReceived = (count: number): Promise<unknown> =>
  until(
    `reply ${String(count)}`,
    () => received.length,
    (now) => now === count,
  );
const untilClosed = (socket = client): Promise<unknown> =>
  until('the connection to close', () => socket.closed);

describe('StreamConnection (DNS over TCP and TLS)', () => {
  test('passes on each message, however the stream is split, and sends replies in any order', async () => {
    const bytes = Buffer.concat([frame(message(1)), frame(message(2))]);
    client.write(bytes.subarray(0, 1));
    await new Promise(setImmediate);
    client.write(bytes.subarray(1, 25));
    await untilTaken(1);
    client.write(bytes.subarray(25));
    await untilTaken(2);
    for (const reply of taken.toReversed()) connection.send(reply);
    await untilReceived(2);
    expect(received.map((reply) => reply[1])).toEqual([2, 1]);
  });

  test('closes the connection after a message that is shorter than a header', async () => {
    client.write(frame(new Uint8Array(11)));
    await untilClosed();
    expect(taken).toEqual([]);
  });

  test('accepts a message of 12 bytes', async () => {
    client.write(frame(new Uint8Array(12)));
    await untilTaken(1);
  });

  test('reads at most 100 unanswered queries, and another query after each answer', async () => {
    ask(MAX_QUERIES_IN_FLIGHT + 5);
    await until(
      'all messages in flight',
      () => taken.length,
      (count) => count >= MAX_QUERIES_IN_FLIGHT,
    );
    expect(taken).toHaveLength(MAX_QUERIES_IN_FLIGHT);
    connection.send(taken[0]!);
    await untilTaken(MAX_QUERIES_IN_FLIGHT + 1);
    for (const query of taken.slice(1, 5)) connection.send(query);
    await untilTaken(MAX_QUERIES_IN_FLIGHT + 5);
  });

  test('stops reading while the client does not read its answers', async () => {
    client.pause();
    ask(1);
    await untilTaken(1);
    // Send more answers than the kernel accepts in one call.
    for (let sent = 0; sent < 512; sent++) connection.send(new Uint8Array(65_535));
    const before = taken.length;
    ask(3);
    client.resume();
    await untilReceived(512);
    await untilTaken(before + 3);
    expect(MAX_UNSENT_BYTES).toBeLessThan(512 * 65_535);
  });

  test('answers queries in flight before it closes a half-closed connection', async () => {
    ask(2);
    client.end();
    await untilTaken(2);
    connection.send(taken[0]!);
    await untilReceived(1);
    expect(client.closed).toBe(false);
    connection.send(taken[1]!);
    await untilClosed();
    expect(received).toHaveLength(2);
  });

  test('sends all answers to a client that has half-closed the connection and reads later', async () => {
    client.pause();
    ask(MAX_QUERIES_IN_FLIGHT);
    client.end();
    await untilTaken(MAX_QUERIES_IN_FLIGHT);
    const failures: Error[] = [];
    client.on('error', (error) => failures.push(error));
    for (const query of taken) connection.send(Buffer.concat([query, Buffer.alloc(65_000)]));
    // The kernel has taken all data that it accepts.
    await new Promise(setImmediate);
    client.resume();
    await untilClosed();
    expect([received.length, failures]).toEqual([MAX_QUERIES_IN_FLIGHT, []]);
  });

  test('finish() closes the connection at once without queries in flight, otherwise after the last answer', async () => {
    ask(1);
    await untilTaken(1);
    connection.finish();
    connection.send(taken[0]!);
    await untilClosed();
    expect(received).toHaveLength(1);
  });

  test('finish() of an idle connection closes it', async () => {
    connection.finish();
    await untilClosed();
  });

  test('send() does nothing if the client has disconnected', async () => {
    ask(1);
    await untilTaken(1);
    connection.destroy();
    connection.send(taken[0]!);
    await untilClosed();
    expect(received).toEqual([]);
  });

  /**
   * Sends this many queries over a connection with this limit; resolves at its end, with the numbers of queries and
   * answers.
   */
  async function askInPieces(
    queries: number,
    maxQueries?: number,
  ): Promise<{ asked: number; answers: number }> {
    const again = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
    const [socket] = (await within('the connection', once(server, 'connection'))) as [Socket];
    const counts = { asked: 0, answers: 0 };
    const limited: StreamConnection = new StreamConnection(
      socket,
      PEER,
      (bytes) => {
        counts.asked++;
        limited.send(bytes);
      },
      maxQueries,
    );
    const frames = new FrameReader(() => {
      counts.answers++;
      return true;
    });
    again.on('data', (chunk: Buffer) => frames.push(chunk));
    const some = Buffer.concat(Array.from({ length: 1000 }, () => frame(message(1, 12))));
    for (let sent = 0; sent < queries; sent += 1000)
      if (!again.write(some)) await within('the queries to be read', once(again, 'drain'));
    if (maxQueries === undefined) again.end();
    await untilClosed(again);
    return counts;
  }

  test('accepts a limited number of queries, answers them all, and is then closed (CVE-2025-30193)', async () => {
    expect(await askInPieces(5000, 5000)).toEqual({ asked: 5000, answers: 5000 });
  });

  test('stays open for a client that sends 150,000 queries', async () => {
    expect(await askInPieces(150_000)).toEqual({ asked: 150_000, answers: 150_000 });
  });

  test('counts as active since its last message or answer', async () => {
    connection.lastActiveMs = 0;
    ask(1);
    await untilTaken(1);
    expect(connection.lastActiveMs).toBeGreaterThan(0);
    connection.lastActiveMs = 0;
    connection.send(taken[0]!);
    expect(connection.lastActiveMs).toBeGreaterThan(0);
  });
});
