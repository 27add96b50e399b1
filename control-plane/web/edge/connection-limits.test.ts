import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { within } from '../../../test/support/parts/until.ts';
import { isAnswered } from '../../../test/support/weir/socket-ends.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { SecuredSockets } from './secured-sockets.ts';
import { endUnread } from './unread-bodies.ts';

const MAX_PER_NETWORK = 50;

let limits: ConnectionLimits;
let servers: Server[];
let sockets: Socket[];

beforeEach(() => {
  limits = new ConnectionLimits(
    new SecuredSockets(),
    new MemoryLogger(),
    (address) => address === '127.0.0.9',
  );
  servers = [];
  sockets = [];
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers)
    await within('a server to close', new Promise((resolve) => server.close(resolve)));
});

/** Starts a server with the limits, which answers each request and reads no body; returns its port. */
async function listen(): Promise<number> {
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      response.shouldKeepAlive = false;
      request.socket.destroySoon = () => endUnread(request.socket);
    }
    response.end('served');
  });
  limits.watch(server);
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Opens a connection; true if it gets a response. */
async function isServed(port: number, localAddress = '127.0.0.1'): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return isAnswered(socket);
}

/** Opens a connection whose request has a body; true if it gets a response. */
async function isAnsweredUnread(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${2 ** 30}\r\n\r\n`);
  return isAnswered(socket);
}

describe('ConnectionLimits of the web server', () => {
  test('counts the connections of a network to all servers of the node together', async () => {
    const ports = [await listen(), await listen()];
    const opened = Array.from({ length: MAX_PER_NETWORK }, (_, at) => isServed(ports[at % 2]!));
    expect(await Promise.all(opened)).toEqual(opened.map(() => true));
    expect(await isServed(ports[0]!)).toBe(false);
    expect(await isServed(ports[0]!, '127.0.0.9')).toBe(true);
  });

  test('accepts a new connection of a network when an existing connection of the network closes', async () => {
    const port = await listen();
    await Promise.all(Array.from({ length: MAX_PER_NETWORK }, () => isServed(port)));
    sockets[0]!.destroy();
    for (let served = false; !served;) served = await isServed(port);
    expect(await isServed(port)).toBe(false);
  });

  test('a connection whose request body was rejected can be replaced by a new connection of its network', async () => {
    const port = await listen();
    for (const _ of Array.from({ length: MAX_PER_NETWORK + 10 }))
      expect(await isAnsweredUnread(port)).toBe(true);
    await Promise.all(Array.from({ length: MAX_PER_NETWORK }, () => isServed(port)));
    expect(await isServed(port)).toBe(false);
  });
});
