import { afterAll, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { within } from '../../../test/support/parts/until.ts';
import { PUBLIC_BODY_LIMIT_BYTES, readBytes } from '../../api/request-body.ts';
import { makeSelfSigned } from '../tls/self-signed.ts';
import { startWebServer } from './server.ts';
import type { WebServer } from './server.ts';
import { leaveUnreadBodies } from './unread-bodies.ts';

const LIMIT_BYTES = 256 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'x');
const GIB = 1024 ** 3;
/** Bytes that Node reads and keeps before it stops reading. */
const MAX_BYTES = 256 * 1024;

type Protocol = 'HTTP' | 'HTTPS';

const certificate = await makeSelfSigned(['127.0.0.1'], Date.now());
const servers = new Map<Protocol, WebServer>();
/** Bytes that were read, by connection, once they are closed. */
let bytesRead: Promise<number>[] = [];

function application(): express.Express {
  const app = express();
  app.use((request, _response, next) => {
    const { socket } = request;
    bytesRead.push(once(socket, 'close').then(() => socket.bytesRead));
    next();
  });
  app.use(leaveUnreadBodies(new TestClock()));
  app.post('/refused', (_request, response) => void response.status(401).send('who are you?'));
  app.post('/read', async (request, response) => {
    const bytes = await readBytes(request, LIMIT_BYTES).catch(() => null);
    if (bytes === null) response.status(413).send('too large');
    else response.send(`${bytes.length} bytes`);
  });
  return app;
}

async function start(protocol: Protocol): Promise<void> {
  const config = testConfig();
  const server = { ...config.server, web_port: 0, bind_address: ['127.0.0.1'] };
  const source = { current: () => certificate, onChange: () => () => undefined };
  const options = protocol === 'HTTPS' ? { certificate: source } : {};
  await servers.get(protocol)?.close();
  servers.set(
    protocol,
    await startWebServer(application(), { ...config, server }, new MemoryLogger(), options),
  );
}

beforeEach(async () => {
  bytesRead = [];
  await Promise.all([start('HTTP'), start('HTTPS')]);
});
afterAll(() => Promise.all([...servers.values()].map((server) => server.close())));

async function open(protocol: Protocol): Promise<Socket> {
  const place = { port: servers.get(protocol)!.endpoints[0]!.port, host: '127.0.0.1', allowHalfOpen: true };
  if (protocol === 'HTTP') {
    const socket = connect(place);
    await once(socket, 'connect');
    return socket;
  }
  const socket = connectTls({ ...place, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

/** Sends a request whose body does not end before the server closes; returns the received data. */
async function flood(protocol: Protocol, request: string): Promise<string> {
  const socket = await open(protocol);
  let answer = '';
  let isOver = false;
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const over = Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => []);
  void over.then(() => (isOver = true));
  socket.write(request);
  while (!isOver) {
    if (!socket.write(CHUNK)) await Promise.race([once(socket, 'drain'), over]).catch(() => []);
  }
  socket.destroy();
  return answer;
}

const head = (path: string, fields: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\n${fields}\r\n\r\n`;
const chunked = (path: string): string =>
  `${head(path, 'Transfer-Encoding: chunked')}${GIB.toString(16)}\r\n`;

test.each([
  ['HTTP', head('/refused', `Content-Length: ${GIB}`), '401'],
  ['HTTPS', head('/refused', `Content-Length: ${GIB}`), '401'],
  ['HTTP', chunked('/refused'), '401'],
  ['HTTPS', chunked('/refused'), '401'],
  ['HTTP', head('/read', `Content-Length: ${GIB}`), '413'],
  ['HTTPS', chunked('/read'), '413'],
] as const)(
  '%s %j: the client receives %s although the server does not read the body',
  async (protocol, request, status) => {
    for (const _ of Array.from({ length: 3 })) {
      const answer = await within('the answer', flood(protocol, request));
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).toContain('\r\nConnection: close\r\n');
    }
    const limitBytes = request.includes('/read') ? LIMIT_BYTES : 0;
    for (const bytes of await Promise.all(bytesRead)) expect(bytes).toBeLessThan(limitBytes + MAX_BYTES);
  },
);

/** Sends a whole request before it reads the response; returns the response, or the error. */
async function sendFirst(protocol: Protocol, path: string, bytes: number): Promise<string> {
  const socket = await open(protocol);
  const failed = once(socket, 'error').then(([error]) => String(error));
  const sent = new Promise<void>((resolve) => {
    socket.write(head(path, `Content-Length: ${bytes}`));
    socket.write(Buffer.alloc(bytes), () => resolve());
  });
  const early = await Promise.race([sent, failed]);
  if (early !== undefined) return early;
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString('latin1');
}

test.each(['HTTP', 'HTTPS'] as const)(
  '%s: a client that sends less than 1 MB before it reads gets its response, even in a flood',
  async (protocol) => {
    for (const _ of Array.from({ length: 12 })) {
      const answer = await sendFirst(protocol, '/refused', 900 * 1024);
      expect(answer).toMatch(/^HTTP\/1.1 401 /);
      expect(answer).toContain('\r\nConnection: close\r\n');
    }
    const read = await Promise.all(bytesRead);
    // The bodies of the other connections are in the buffers of the kernel.
    expect(read.filter((bytes) => bytes > 900 * 1024)).toHaveLength(8);
  },
);

test.each([
  ['/read', 200 * 1024, '200'],
  ['/refused', PUBLIC_BODY_LIMIT_BYTES, '401'],
])('POST %s with %d bytes keeps the connection open after status %s', async (path, bytes, status) => {
  const answer = await sendFirst('HTTP', path, bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toContain('\r\nConnection: keep-alive\r\n');
});
