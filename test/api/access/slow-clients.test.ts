/** Clients that open many connections and send little: other clients must still be served. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Express } from 'express';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { readJsonBody } from '../../../control-plane/api/request-body.ts';
import { startWebServer } from '../../../control-plane/web/edge/server.ts';
import type { WebDeadlines, WebServer } from '../../../control-plane/web/edge/server.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { testConfig } from '../../support/parts/test-config.ts';
import { until, within } from '../../support/parts/until.ts';
import { closeOf } from '../../support/weir/socket-ends.ts';

/** Deadlines that no client misses within a test. */
const NEVER: WebDeadlines = {
  headMs: 3_600_000,
  requestMs: 3_600_000,
  idleMs: 3_600_000,
  silentMs: 3_600_000,
};
const MAX_PER_NETWORK = 50;
const HALF_HEAD = 'POST /body HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ';
const HALF_BODY =
  'POST /body HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{';

let web: WebServer;
let sockets: Socket[];

beforeEach(() => {
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await web.close();
});

async function listen(toml = '', deadlines = NEVER): Promise<void> {
  const config = testConfig(toml);
  const app = application(config.server.trusted_proxies);
  web = await startWebServer(app, config, new MemoryLogger(), { deadlines });
}

function application(proxies: readonly string[]): Express {
  const app = express();
  app.set('trust proxy', proxies.length === 0 ? false : [...proxies]);
  app.get('/', (_request, response) => void response.send('served'));
  app.post('/body', async (request, response) => void response.json(await readJsonBody(request, 1000)));
  return app;
}

/** Opens connections from a loopback address and sends the same bytes on each. */
async function flood(from: string, count: number, bytes: string): Promise<Socket[]> {
  const { port } = web.endpoints[0]!;
  return openTo(port, from, count, bytes);
}

async function openTo(port: number, from: string, count: number, bytes: string): Promise<Socket[]> {
  const opened = Array.from({ length: count }, () => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from });
    socket.on('error', () => undefined).on('connect', () => socket.write(bytes));
    socket.resume();
    return socket;
  });
  sockets.push(...opened);
  const connected = Promise.all(opened.map((socket) => once(socket, 'connect')));
  await within(`${count} connections`, connected);
  return opened;
}

/** Response to another client. */
async function serve(from: string): Promise<string> {
  const { port } = web.endpoints[0]!;
  const request = get({ host: '127.0.0.1', port, localAddress: from, agent: false });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  const [response] = await within(`the answer to a client at ${from}`, answered);
  return text(response);
}

/**
 * The server that first cuts off a slow client: Weir's, or a plain Node server, which checks its deadlines only every
 * 30 s.
 */
async function firstToCut(socket: Socket, { headMs, requestMs }: WebDeadlines): Promise<'weir' | 'node'> {
  const options = { headersTimeout: headMs, requestTimeout: requestMs };
  const plain = createServer(options).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  const [other] = await openTo(port, '127.0.0.2', 1, HALF_HEAD);
  try {
    return await Promise.race([
      closeOf(socket).then(() => 'weir' as const),
      closeOf(other!).then(() => 'node' as const),
    ]);
  } finally {
    other!.destroy();
    plain.close();
  }
}

const openOf = (opened: readonly Socket[]): number => opened.filter(({ closed }) => !closed).length;

describe('one client machine', () => {
  test.each([
    ['that says nothing', ''],
    ['with half a head', HALF_HEAD],
    ['with half a body', HALF_BODY],
    ['that reads no answer', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(100)],
  ])(
    'with 600 connections %s keeps 50 of them, while other clients are served at once',
    async (_what, bytes) => {
      await listen();
      const opened = await flood('127.0.0.2', 600, bytes);
      expect(await serve('127.0.0.1')).toBe('served');
      await until(
        `no more than ${MAX_PER_NETWORK} open connections`,
        () => openOf(opened),
        (open) => open <= MAX_PER_NETWORK,
      );
      expect(await serve('127.0.0.1')).toBe('served');
    },
  );

  test('that is a trusted proxy may keep more than 50 connections', async () => {
    await listen('server.trusted_proxies = ["127.0.0.2/32"]');
    const opened = await flood('127.0.0.2', 200, HALF_HEAD);
    expect(await serve('127.0.0.2')).toBe('served');
    expect(openOf(opened)).toBe(200);
  });
});

test('idle connections of many machines are closed for clients that send requests', async () => {
  await listen();
  const opened: Socket[] = [];
  for (let host = 10; host < 22; host++) opened.push(...(await flood(`127.0.0.${host}`, 50, HALF_HEAD)));
  expect(await serve('127.0.0.1')).toBe('served');
  await until(
    'no more than 500 open connections',
    () => openOf(opened),
    (open) => open <= 500,
  );
});

describe('a slow client', () => {
  const deadlines = { headMs: 500, requestMs: 1000, idleMs: 500, silentMs: 1000 };

  test.each([
    ['with the head of its first request', HALF_HEAD],
    ['with the body', HALF_BODY],
    ['with its first byte', ''],
    ['with its next request', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
  ])('%s is disconnected', async (_what, bytes) => {
    await listen('', deadlines);
    const [socket] = await flood('127.0.0.2', 1, bytes);
    expect(await firstToCut(socket!, deadlines)).toBe('weir');
  });

  test('that sends its header byte by byte is disconnected', async () => {
    await listen('', deadlines);
    const [socket] = await flood('127.0.0.2', 1, HALF_HEAD);
    const dribble = setInterval(() => socket!.write('x'), 50);
    try {
      expect(await firstToCut(socket!, deadlines)).toBe('weir');
    } finally {
      clearInterval(dribble);
    }
  });
});
