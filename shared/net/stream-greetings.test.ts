import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { headerFor, headerOf, LOCAL_HEADER } from '../../test/support/parts/proxy-headers.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { addressToText } from './ip.ts';
import { ProxySenders } from './proxy-senders.ts';
import { StreamGreetings } from './stream-greetings.ts';

const HEADER = headerFor('192.0.2.99');

let server: Server;
let sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  server.close();
});

/** Listens; time advances only when `pass` is called. */
async function listen(trusted: readonly string[] | null) {
  const waiting = new Set<() => void>();
  const accepted: Socket[] = [];
  const seen = { taken: [] as string[], bad: 0, overflows: 0, text: '' };
  const greetings = new StreamGreetings({
    senders: new ProxySenders(trusted),
    later: (work) => {
      waiting.add(work);
      return () => void waiting.delete(work);
    },
    onBadHeader: () => seen.bad++,
    onOverflow: () => seen.overflows++,
  });
  server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    sockets.push(socket);
    greetings.greet(socket, ({ address, port, isProxied }) => {
      seen.taken.push(`${addressToText(address)} ${isProxied ? port : 'itself'}`);
      socket.on('data', (chunk: Buffer) => (seen.text += chunk.toString('latin1')));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pass = (): void => {
    for (const work of waiting) work();
  };
  return { seen, greetings, waiting, accepted, pass };
}

async function client(): Promise<Socket> {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
  sockets.push(socket.on('error', () => undefined));
  await within('the connection', once(socket, 'connect'));
  return socket;
}

const closeOf = (socket: Socket): Promise<unknown> =>
  within(
    'the server to close the connection',
    new Promise((resolve) => socket.resume().once('close', resolve)),
  );

describe('StreamGreetings, which reads PROXY headers of connections,', () => {
  test('accepts a connection at once if PROXY headers are not enabled', async () => {
    const { seen, waiting } = await listen(null);
    (await client()).write(HEADER);
    await until(
      'the bytes to be handed on',
      () => seen.text.length,
      (count) => count === HEADER.length,
    );
    expect([seen.taken, waiting.size]).toEqual([['127.0.0.1 itself'], 0]);
  });

  test('returns the bytes after the header to the socket, and leaves no timer running', async () => {
    const { seen, waiting } = await listen([]);
    (await client()).write(Buffer.concat([HEADER, Buffer.from('first')]));
    await until(
      'the bytes after the first header',
      () => seen.text,
      (now) => now === 'first',
    );
    (await client()).write(Buffer.concat([LOCAL_HEADER, Buffer.from('second')]));
    await until(
      'the bytes after the second header',
      () => seen.text,
      (now) => now === 'firstsecond',
    );
    expect(seen.taken).toEqual(['192.0.2.99 4660', expect.stringMatching(/^127\.0\.0\.1 \d+$/)]);
    expect(waiting.size).toBe(0);
  });

  test('accepts a header that ends at the end of a segment', async () => {
    const { seen } = await listen(['127.0.0.1']);
    const socket = await client();
    socket.write(HEADER);
    await until(
      'the connection to be taken',
      () => seen.taken.length,
      (count) => count === 1,
    );
    socket.write('x');
    await until(
      'the byte after the header',
      () => seen.text,
      (now) => now === 'x',
    );
  });

  test.each([
    ['the first byte', [], Buffer.alloc(0), 0],
    ['the rest of a header', [], HEADER.subarray(0, 15), 1],
    ['the first byte of a direct client', ['192.0.2.0/24'], Buffer.alloc(0), 0],
    ['the bytes that distinguish a direct client from a header', ['192.0.2.0/24'], HEADER.subarray(0, 5), 1],
  ])('closes a connection that sends %s too late', async (_what, trusted, bytes, bad) => {
    const { seen, waiting, accepted, pass } = await listen(trusted);
    const socket = await client();
    socket.write(bytes);
    await until(
      'the bytes to be read',
      () => accepted[0]?.bytesRead,
      (now) => now === bytes.length,
    );
    pass();
    await closeOf(socket);
    expect([waiting.size, seen.bad]).toEqual([0, bad]);
  });

  test('closes the connection that has waited longest if too many wait, and accepts the new connection', async () => {
    const { seen, waiting } = await listen([]);
    const silent = [];
    for (let n = 0; n < 256; n++) silent.push(await client());
    await until(
      '256 waiting connections',
      () => waiting.size,
      (now) => now === 256,
    );
    (await client()).write(HEADER);
    await closeOf(silent[0]!);
    await until(
      'the connection to be taken',
      () => seen.taken.length,
      (count) => count === 1,
    );
    expect([seen.overflows, silent.filter(({ closed }) => closed).length]).toEqual([1, 1]);
    await until(
      'a connection fewer to wait',
      () => waiting.size,
      (now) => now === 255,
    );
  });

  test('close() closes waiting connections, but no accepted connections', async () => {
    const { seen, greetings, waiting } = await listen([]);
    const taken = await client();
    taken.write(HEADER);
    const awaited = await client();
    awaited.write(headerOf('21', '11', '00'.repeat(4), 200));
    await until(
      'one connection taken and another waiting',
      () => [waiting.size, seen.taken.length],
      (counts) => counts.join() === '1,1',
    );
    greetings.close();
    await closeOf(awaited);
    taken.write('on');
    await until(
      'the byte of the connection taken',
      () => seen.text,
      (now) => now === 'on',
    );
    expect([waiting.size, seen.bad]).toEqual([0, 0]);
  });
});
