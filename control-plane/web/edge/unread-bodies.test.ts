import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { readBytes } from '../../api/request-body.ts';
import { leaveUnreadBodies } from './unread-bodies.ts';

const LIMIT_BYTES = 256 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'x');
/** What is read while a client reads its answer, and held in buffers; far below what the clients here would send. */
const MOST_BYTES = 256 * 1024 * 1024;

let server: Server;
let port: number;

beforeAll(async () => {
  const app = express();
  app.use(leaveUnreadBodies);
  app.post('/refused', (_request, response) => void response.status(401).send('who are you?'));
  app.post('/read', async (request, response) => {
    const bytes = await readBytes(request, LIMIT_BYTES).catch(() => null);
    if (bytes === null) response.status(413).send('too large');
    else response.send(`${bytes.length} bytes`);
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => void server.close());

/** Sends a head, and a body until it is whole or the server ends; what came back, and how much went out. */
async function send(
  path: string,
  fields: string,
  bodyBytes: number,
): Promise<{ answer: string; sent: number }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let answer = '';
  const state = { isOver: false };
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  socket.on('error', () => (state.isOver = true));
  const over = Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => []);
  void over.then(() => (state.isOver = true));
  socket.write(`POST ${path} HTTP/1.1\r\nHost: test\r\n${fields}\r\n`);
  let sent = 0;
  while (!state.isOver && sent < bodyBytes) {
    const chunk = CHUNK.subarray(0, Math.min(CHUNK.length, bodyBytes - sent));
    const framed = fields.startsWith('Transfer')
      ? [`${chunk.length.toString(16)}\r\n`, chunk, '\r\n']
      : [chunk];
    for (const part of framed) socket.write(part);
    sent += chunk.length;
    if (socket.writableNeedDrain) await Promise.race([once(socket, 'drain'), over]).catch(() => []);
  }
  await (sent === bodyBytes ? Promise.race([once(socket, 'data'), over]) : over);
  socket.destroy();
  return { answer, sent };
}

const GIB = 1024 ** 3;
test.each([
  ['/refused', `Content-Length: ${GIB}\r\n`, '401'],
  ['/refused', 'Transfer-Encoding: chunked\r\n', '401'],
  ['/read', `Content-Length: ${GIB}\r\n`, '413'],
  ['/read', 'Transfer-Encoding: chunked\r\n', '413'],
])('POST %s with %j: the client reads %s, and most of the body is not read', async (path, fields, status) => {
  const { answer, sent } = await send(path, fields, GIB);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toContain('\r\nConnection: close\r\n');
  expect(sent).toBeLessThan(MOST_BYTES);
});

test.each([
  ['/read', 200 * 1024, '200'],
  ['/refused', 10, '401'],
])('POST %s with %d bytes keeps the connection after the %s', async (path, bytes, status) => {
  const { answer } = await send(path, `Content-Length: ${bytes}\r\n`, bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toContain('\r\nConnection: keep-alive\r\n');
});
