import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterEach, describe, expect, test } from '@jest/globals';
import { query } from '../../../test/support/dns/dns-message.ts';
import { dohPath } from '../../../test/support/dns/doh-client.ts';
import { until } from '../../../test/support/parts/until.ts';
import { UntrustedProxies } from '../../clients/access/untrusted-proxies.ts';
import { ThreadUnavailable } from '../../threads/thread-requests.ts';
import { addDohRelay } from './doh-relay.ts';
import type { RelayQuery } from './doh-relay.ts';

const MESSAGE = query('www.example.org', 'A', { id: 0 });

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Serves a relay; returns the URL of a query. */
async function serve(
  relay: RelayQuery,
  { proxies = new UntrustedProxies(), trusted = [] as string[] } = {},
): Promise<string> {
  const app = express();
  app.set('trust proxy', trusted);
  addDohRelay(app, relay, proxies.note);
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${dohPath(MESSAGE)}`;
}

describe('addDohRelay(), DNS over HTTPS on the web port,', () => {
  test('answers 503 while no DNS thread is ready, and 400 to a message that gets no DNS reply', async () => {
    const replies = [new ThreadUnavailable('none'), null, MESSAGE];
    const url = await serve(async () => {
      const reply = replies.shift()!;
      if (reply instanceof Error) throw reply;
      return reply;
    });
    const statuses: [number, string | null][] = [];
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await fetch(url);
      statuses.push([status, headers.get('retry-after')]);
    }
    expect(statuses).toEqual([
      [503, '1'],
      [400, null],
      [200, null],
    ]);
  });

  test('queues at most 256 queries, and at most 64 of one client', async () => {
    const waiting: (() => void)[] = [];
    const url = await serve(
      () => new Promise((resolve) => waiting.push(() => resolve(Buffer.from(MESSAGE)))),
      { trusted: ['127.0.0.1'] },
    );
    const from = (network: number): Promise<Response> =>
      fetch(url, { headers: { 'x-forwarded-for': `192.0.${network}.1` } });
    const asked = Array.from({ length: 64 }, () => from(0));
    await until(
      '64 waiting queries',
      () => waiting.length,
      (count) => count === 64,
    );
    const refused = await from(0);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    for (let i = 64; i < 256; i++) asked.push(from(i >> 6));
    await until(
      '256 waiting queries',
      () => waiting.length,
      (count) => count === 256,
    );
    expect((await from(4)).status).toBe(503);
    for (const answer of waiting) answer();
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]));
    const again = from(0);
    await until('a query after them', () => waiting.length === 257);
    waiting[256]!();
    expect((await again).status).toBe(200);
  });

  test.each([
    ['a client', [], {}, false],
    ['a proxy that is not trusted', [], { 'X-Forwarded-For': '192.0.2.7' }, true],
    ['a proxy that is trusted', ['127.0.0.1'], { 'X-Forwarded-For': '192.0.2.7' }, false],
  ])('records whether %s hides several clients', async (_name, trusted, headers, isNoted) => {
    const proxies = new UntrustedProxies();
    const url = await serve(async () => MESSAGE, { proxies, trusted });
    expect((await fetch(url, { headers })).status).toBe(200);
    expect(proxies.has('127.0.0.1')).toBe(isNoted);
  });
});
