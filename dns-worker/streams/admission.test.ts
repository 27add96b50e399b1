import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createConnectionTable } from '../../shared/memory/connection-table.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { addressToText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { Admission } from './admission.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { OpenConnections } from './open-connections.ts';

/** Headers of PROXY protocol v2: one that names 192.0.2.99, and one without a client. */
const HEADER = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000263c633640112340035', 'hex');
const LOCAL = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');

let server: Server;
let sockets: Socket[] = [];
let open: OpenConnections;

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  open.close();
  server.close();
});

/** Listens; records the admitted clients, and echoes the bytes that they send. */
async function listen(
  trusted: readonly string[] | null,
  maxPerAddress = 0,
  mayConnect: (address: Uint8Array) => boolean = () => true,
) {
  const counts = new Map<number, number>();
  const logger = new MemoryLogger();
  const taken: string[] = [];
  const limit = new ConnectionLimit({
    ...{ table: createConnectionTable(1, 7), worker: 0, protocol: Protocol.tcp, maxPerAddress },
    max: 100,
  });
  open = new OpenConnections();
  const reporter = { count: (counter: number) => void counts.set(counter, (counts.get(counter) ?? 0) + 1) };
  const admission = new Admission(
    { senders: new ProxySenders(trusted), mayConnect, reporter, logger },
    limit,
    open,
  );
  server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    admission.admit(socket, ({ address, port }) => {
      taken.push(`${addressToText(address)} ${port}`);
      socket.on('data', (chunk) => socket.write(chunk));
      socket.on('end', () => socket.end());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { taken, logger, counted: (counter: number) => counts.get(counter) ?? 0 };
}

async function client(): Promise<Socket> {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  sockets.push(socket);
  await within('the connection', once(socket, 'connect'));
  return socket;
}

const closeOf = (socket: Socket): Promise<unknown> =>
  within('the server to close the connection', new Promise((resolve) => socket.once('close', resolve)));

/** Resolves with `size` bytes of an echo. */
async function echo(socket: Socket, size: number): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await until(
    'the echo',
    () => text.length,
    (count) => count >= size,
  );
  return text;
}

describe('Admission of connections with a PROXY header', () => {
  test('reports the client named in the header, and passes on every byte after it', async () => {
    const { taken } = await listen([]);
    const socket = await client();
    socket.write(Buffer.concat([HEADER, Buffer.from('first')]));
    socket.write('second');
    expect(await echo(socket, 11)).toBe('firstsecond');
    expect(taken).toEqual(['192.0.2.99 4660']);
  });

  test('closes the connection of a client that is not allowed to query, but waits for the header of a proxy', async () => {
    const { taken, counted } = await listen([], 1, (address) => addressToText(address) !== '192.0.2.99');
    for (const _ of [1, 2]) {
      const refused = await client();
      refused.write(HEADER);
      await closeOf(refused);
    }
    expect([taken, counted(Counter.REFUSED_CLIENTS), counted(Counter.STREAMS_REFUSED)]).toEqual([[], 2, 0]);
    const balancer = await client();
    balancer.write(Buffer.concat([LOCAL, Buffer.from('x')]));
    await echo(balancer, 1);
    expect(taken).toEqual([`127.0.0.1 ${balancer.localPort}`]);
  });

  test('accepts a header that arrives byte by byte in several segments', async () => {
    const { taken } = await listen(['127.0.0.0/8']);
    const socket = await client();
    for (const octet of HEADER) {
      socket.write(Uint8Array.of(octet));
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.write('x');
    await echo(socket, 1);
    expect(taken).toEqual(['192.0.2.99 4660']);
  });

  test('treats the peer as the client if the header says LOCAL', async () => {
    const { taken } = await listen([]);
    const socket = await client();
    socket.write(Buffer.concat([LOCAL, Buffer.from('x')]));
    await echo(socket, 1);
    expect(taken).toEqual([`127.0.0.1 ${socket.localPort}`]);
  });

  test('treats peers outside the trusted networks as clients, and closes connections that send a header', async () => {
    const { taken, counted } = await listen(['192.0.2.0/24']);
    for (const bytes of ['x', '\r\n\r\nlike a header']) {
      const socket = await client();
      socket.end(bytes);
      expect(await echo(socket, bytes.length)).toBe(bytes);
    }
    expect(new Set(taken.map((text) => text.split(' ')[0]))).toEqual(new Set(['127.0.0.1']));
    const forger = await client();
    forger.write(HEADER.subarray(0, 5));
    forger.write(HEADER.subarray(5));
    await closeOf(forger);
    expect([taken.length, counted(Counter.PROXY_HEADERS_REFUSED)]).toEqual([2, 1]);
  });

  test('closes connections with an invalid header, and logs one line for many connections', async () => {
    const { taken, counted, logger } = await listen([]);
    for (let i = 0; i < 20; i++) {
      const socket = await client();
      socket.write('PROXY TCP4 192.0.2.99 198.51.100.1 4660 53\r\n');
      await closeOf(socket);
    }
    expect([taken, counted(Counter.PROXY_HEADERS_REFUSED)]).toEqual([[], 20]);
    expect(logger.text().match(/PROXY header/g)).toHaveLength(1);
  });

  test('closes a connection that ends in the middle of the header', async () => {
    const { taken, counted } = await listen([]);
    const silent = await client();
    silent.end();
    await closeOf(silent);
    expect(counted(Counter.PROXY_HEADERS_REFUSED)).toBe(0);
    const half = await client();
    half.end(HEADER.subarray(0, 20));
    await closeOf(half);
    expect([taken, counted(Counter.PROXY_HEADERS_REFUSED)]).toEqual([[], 1]);
  });

  test('limits the number of connections without a header, and how long such connections may wait', async () => {
    const { taken, counted } = await listen([]);
    const closed: Promise<unknown>[] = [];
    for (let i = 0; i < 260; i++) closed.push(closeOf((await client()).resume()));
    await until(
      'connections beyond the bound to be refused',
      () => counted(Counter.STREAMS_REFUSED),
      (now) => now === 4,
    );
    await Promise.all(closed);
    const late = await client();
    late.write(Buffer.concat([HEADER, Buffer.from('x')]));
    await echo(late, 1);
    expect(taken).toEqual(['192.0.2.99 4660']);
  });

  test('admits a load balancer even if silent connections occupy all waiting slots', async () => {
    const { taken, counted } = await listen([]);
    for (let i = 0; i < 256; i++) (await client()).resume();
    const prompt = await client();
    prompt.write(Buffer.concat([HEADER, Buffer.from('x')]));
    await echo(prompt, 1);
    expect([taken, counted(Counter.STREAMS_REFUSED)]).toEqual([['192.0.2.99 4660'], 1]);
  });

  test('limits the connections of the client named in the header, not of the load balancer', async () => {
    const { taken, counted } = await listen([], 1);
    const header = (lastOctet: number): Buffer => {
      const bytes = Buffer.from(HEADER);
      bytes[19] = lastOctet;
      return bytes;
    };
    for (const lastOctet of [1, 2]) {
      const socket = await client();
      socket.write(Buffer.concat([header(lastOctet), Buffer.from('x')]));
      await echo(socket, 1);
    }
    const third = await client();
    third.write(header(1));
    await closeOf(third);
    expect([taken.length, counted(Counter.STREAMS_REFUSED)]).toEqual([2, 1]);
  });

  test('counts a connection as closed, however it ends', async () => {
    const { taken } = await listen([], 1);
    for (const end of ['end', 'destroy', 'resetAndDestroy'] as const) {
      const before = taken.length;
      await until(`a free place after ${end}`, async () => {
        const socket = await client();
        socket.write(Buffer.concat([HEADER, Buffer.from('x')]));
        await Promise.race([echo(socket, 1), closeOf(socket)]);
        const isTaken = taken.length > before;
        if (isTaken) socket[end]();
        return isTaken;
      });
    }
    expect(taken).toHaveLength(3);
  });
});
