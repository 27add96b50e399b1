import { describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Request, Response } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { admitProxied } from '../../api/proxied-requests.ts';
import { checkHost } from './host-check.ts';

const PROXY = '192.0.2.1';
const PROBE = 'OPTIONS /api/health HTTP/1.0\r\n\r\n';

/** The status line of the response to these bytes from a peer. */
async function statusOf(bytes: string, peer: string, isProxied = false): Promise<string> {
  const app = express();
  app.set('trust proxy', [PROXY]);
  app.use((request: Request, _response: Response, next) => {
    const { socket }: { socket: Socket } = request;
    Object.defineProperty(socket, 'remoteAddress', { value: peer });
    if (isProxied) admitProxied(socket);
    next();
  });
  app.use(checkHost({ nodeName: 'node-a', allowedHosts: () => [] }));
  app.use((_request: Request, response: Response) => void response.send('served'));
  app.use((error: { status: number }, _request: Request, response: Response, _next: unknown) => {
    response.sendStatus(error.status);
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(bytes);
  const answer = await text(socket);
  server.close();
  return /^HTTP\/1\.1 (\d+)/.exec(answer)![1]!;
}

describe('checkHost(), which checks the Host header,', () => {
  test.each([
    ['this machine', '127.0.0.1', false],
    ['this machine over IPv6', '::1', false],
    ['a proxy of server.trusted_proxies', PROXY, false],
    ['a load balancer that sent a PROXY header', '203.0.113.7', true],
  ])('accepts an HTTP/1.0 probe without a Host header from %s', async (_who, peer, isProxied) => {
    expect(await statusOf(PROBE, peer, isProxied)).toBe('200');
  });

  test.each([
    ['from another machine', '203.0.113.7', PROBE],
    ['that is HTTP/1.1', '127.0.0.1', 'GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['that changes something', '127.0.0.1', 'POST /api/groups HTTP/1.0\r\n\r\n'],
    ['sent by another page', '127.0.0.1', 'GET / HTTP/1.0\r\nOrigin: https://evil.test\r\n\r\n'],
    ['whose proxy names another host', PROXY, 'GET / HTTP/1.0\r\nX-Forwarded-Host: evil.test\r\n\r\n'],
    ['but an empty one', '127.0.0.1', 'GET / HTTP/1.0\r\nHost:\r\n\r\n'],
    ['that names another server', '127.0.0.1', 'GET http://evil.test/ HTTP/1.0\r\n\r\n'],
  ])('rejects a request without a Host header %s', async (_what, peer, bytes) => {
    expect(await statusOf(bytes, peer)).toBe('400');
  });
});
