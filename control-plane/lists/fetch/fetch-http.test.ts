import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createGunzip } from 'node:zlib';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import { within } from '../../../test/support/parts/until.ts';
import { type ListServer, startListServer } from '../../../test/support/weir/list-server.ts';
import { NO_OWN_HOST, SMALL_LIMITS } from '../../../test/support/weir/small-fetch.ts';
import { asListError, type HttpWays, requestList, type Validators } from './fetch-http.ts';
import type { FetchLimits } from './fetch-limits.ts';
import { ListError } from './list-error.ts';
import { lookupBySystem } from './list-host.ts';

const LIST = '# list\n0.0.0.0 ads.example\n';
const NO_VALIDATORS: Validators = { etag: null, lastModified: null };
const STAMP = 'Wed, 01 Jan 2025 00:00:00 GMT';

let lists: ListServer;

beforeAll(async () => {
  lists = await startListServer();
});
afterAll(() => lists.close());
beforeEach(() => lists.reset());

function ways(limits: Partial<FetchLimits> = {}, change: Partial<HttpWays> = {}): HttpWays {
  return {
    limits: { ...SMALL_LIMITS, ...limits },
    bounds: NO_OWN_HOST,
    lookup: lookupBySystem,
    signal: new AbortController().signal,
    ...change,
  };
}

function ask(url: string, by: HttpWays = ways(), validators = NO_VALIDATORS): Promise<IncomingMessage> {
  return requestList(new URL(url), validators, by);
}

/** The error of `requestList()`. */
async function faultOf(asked: Promise<IncomingMessage>): Promise<ListError> {
  const fault: unknown = await asked.then(
    (response) => response.destroy(),
    (error: unknown) => error,
  );
  if (fault instanceof ListError) return fault;
  throw new Error('no ListError', { cause: fault });
}

/** A server that accepts connections and sends nothing; it keeps its sockets. */
async function startMuteServer(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => sockets.add(socket.on('error', () => undefined)));
  const port = await listen(server);
  return {
    port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await stop(server);
    },
  };
}

async function listen(server: Server | TlsServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function stop(server: Server | TlsServer): Promise<void> {
  server.close();
  await within('the server to close', once(server, 'close'));
}

describe('requestList()', () => {
  test("sends Weir's User-Agent, accepts compression, and returns an unread response", async () => {
    lists.serve('/list', LIST);
    const response = await ask(lists.url('/list'));
    expect(response.statusCode).toBe(200);
    expect(await text(response)).toBe(LIST);
    const [{ headers, method }] = lists.requests as [IncomingMessage];
    expect(method).toBe('GET');
    expect(headers).toMatchObject({
      accept: 'text/plain, */*;q=0.5',
      'accept-encoding': 'gzip',
      'user-agent': 'Weir',
      connection: 'close',
    });
    expect(headers).not.toHaveProperty('if-none-match');
    expect(headers).not.toHaveProperty('if-modified-since');
  });

  test.each<[Validators, object]>([
    [
      { etag: '"7"', lastModified: STAMP },
      { 'if-none-match': '"7"', 'if-modified-since': STAMP },
    ],
    [{ etag: '"7"', lastModified: null }, { 'if-none-match': '"7"' }],
    [{ etag: null, lastModified: STAMP }, { 'if-modified-since': STAMP }],
  ])('sends the known ETag and date, and accepts 304: %j', async (validators, sent) => {
    lists.serve('/list', (_, response) => response.writeHead(304).end());
    const response = await ask(lists.url('/list'), ways(), validators);
    response.resume();
    expect(response.statusCode).toBe(304);
    const { headers } = lists.requests[0]!;
    expect({
      ...('if-none-match' in headers && { 'if-none-match': headers['if-none-match'] }),
      ...('if-modified-since' in headers && { 'if-modified-since': headers['if-modified-since'] }),
    }).toEqual(sent);
  });

  test.each([201, 204, 206, 300, 305, 401, 403, 404, 429, 500, 503])(
    'refuses a response with status %d',
    async (status) => {
      lists.serve('/list', (_, response) => response.writeHead(status).end());
      const fault = await faultOf(ask(lists.url('/list')));
      expect([fault.code, fault.message]).toEqual([
        'http_status',
        `could not fetch ${lists.url('/list')}: the server answered ${status}`,
      ]);
    },
  );

  test('closes the connection of a response that it refuses', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    lists.serve('/list', (request, response) => {
      closed = once(request.socket, 'close');
      response.writeHead(404).write('a page without end');
    });
    await faultOf(ask(lists.url('/list')));
    await within('the connection to close', closed);
  });

  test('reports a status without the credentials of the URL', async () => {
    const url = new URL(lists.url('/list'));
    url.username = 'user';
    url.password = 'secret';
    const fault = await faultOf(ask(url.href));
    expect(fault.message).toMatch(/answered 404$/);
    expect(fault.message).not.toMatch(/secret/);
    expect(lists.requests[0]?.headers.authorization).toMatch(/^Basic /);
  });

  test.each([301, 302, 303, 307, 308])('follows a redirect with status %d', async (status) => {
    lists.serve('/a', (_, response) => response.writeHead(status, { Location: '/b' }).end());
    lists.serve('/b', LIST);
    const validators = { etag: '"7"', lastModified: null };
    expect(await text(await ask(lists.url('/a'), ways(), validators))).toBe(LIST);
    expect(lists.requests.map(({ url, headers }) => [url, headers['if-none-match']])).toEqual([
      ['/a', '"7"'],
      ['/b', '"7"'],
    ]);
  });

  test('resolves a relative Location against the last redirect, not the first', async () => {
    lists.serve('/a', (_, response) => response.writeHead(302, { Location: lists.url('/deep/b') }).end());
    lists.serve('/deep/b', (_, response) => response.writeHead(302, { Location: 'c?d=1' }).end());
    lists.serve('/deep/c?d=1', LIST);
    expect(await text(await ask(lists.url('/a')))).toBe(LIST);
  });

  test('follows as many redirects as the limit allows, and no more', async () => {
    for (const hop of [0, 1, 2])
      lists.serve(`/${hop}`, (_, response) => response.writeHead(302, { Location: `/${hop + 1}` }).end());
    lists.serve('/3', LIST);
    expect(await text(await ask(lists.url('/0'), ways({ redirects: 3 })))).toBe(LIST);
    const fault = await faultOf(ask(lists.url('/0'), ways({ redirects: 2 })));
    expect([fault.code, fault.message]).toEqual([
      'redirects',
      `could not fetch ${lists.url('/0')}: more than 2 redirects`,
    ]);
    expect(lists.requests.map(({ url }) => url)).toEqual(['/0', '/1', '/2', '/3', '/0', '/1', '/2']);
  });

  test.each<[Record<string, string>, RegExp]>([
    [{}, /a redirect without a usable location$/],
    [{ Location: 'http://[' }, /a redirect without a usable location$/],
    [{ Location: 'file:///etc/passwd' }, /redirects to file: are not followed$/],
    [{ Location: 'ftp://lists.example/' }, /redirects to ftp: are not followed$/],
  ])('refuses a redirect with %j', async (headers, message) => {
    lists.serve('/list', (_, response) => response.writeHead(302, headers).end());
    const fault = await faultOf(ask(lists.url('/list')));
    expect([fault.code, fault.message]).toEqual(['redirects', expect.stringMatching(message)]);
  });

  test.each([
    'http://169.254.169.254/meta-data',
    'http://127.0.0.2/list',
    // A name that may refer to a host that only this machine can reach.
    'http://nas/list',
  ])('refuses a redirect to %s, an address that no configured list has', async (target) => {
    lists.serve('/list', (_, response) => response.writeHead(302, { Location: target }).end());
    const lookup = async () => [{ address: '192.168.0.9', family: 4 }];
    const fault = await faultOf(ask(lists.url('/list'), ways({}, { lookup })));
    expect(fault.code).toBe('refused_host');
  });

  test('reports why a host name has no address', async () => {
    const lookup = () => Promise.reject(new Error('getaddrinfo ENOTFOUND lists.example'));
    const fault = await faultOf(ask('http://lists.example/a', ways({}, { lookup })));
    expect([fault.code, fault.message]).toEqual([
      'network',
      'could not fetch http://lists.example/a: getaddrinfo ENOTFOUND lists.example',
    ]);
  });

  test('reports why a server cannot be reached', async () => {
    const free = createTcpServer();
    const port = await listen(free);
    await stop(free);
    const fault = await faultOf(ask(`http://127.0.0.1:${port}/`));
    expect([fault.code, fault.message]).toEqual([
      'network',
      expect.stringMatching(/refused the connection \(ECONNREFUSED\)$/),
    ]);
  });

  test('gives up on a server that sends nothing, and on a server that stops before its headers are complete', async () => {
    const mute = await startMuteServer();
    const never = await faultOf(ask(`http://127.0.0.1:${mute.port}/`, ways({ idleMs: 50 })));
    expect([never.code, never.message]).toEqual(['timeout', expect.stringMatching(/: no data for 50 ms$/)]);
    await mute.close();
    lists.serve('/list', (request) => void request.socket.write('HTTP/1.1 200 OK\r\nETag: '));
    const half = await faultOf(ask(lists.url('/list'), ways({ idleMs: 50 })));
    expect([half.code, half.message]).toEqual(['timeout', expect.stringMatching(/: no data for 50 ms$/)]);
  });

  test('ends a stalled body with an error for its reader', async () => {
    lists.serve('/list', (_, response) => void response.write(LIST));
    // The time limit is long enough for the response to begin.
    const response = await ask(lists.url('/list'), ways({ idleMs: 1500 }));
    await expect(text(response)).rejects.toMatchObject({
      code: 'timeout',
      message: `could not fetch ${lists.url('/list')}: no data for 1500 ms`,
    });
  });

  test('stops the connect timeout when the connection is established', async () => {
    const mute = await startMuteServer();
    const limits = { connectMs: 1500 };
    lists.serve('/list', (_, response) => void response.write('# '));
    const connected = await ask(lists.url('/list'), ways(limits));
    // This request was started later and times out first, because the TLS handshake never completes.
    const fault = await faultOf(ask(`https://127.0.0.1:${mute.port}/`, ways(limits)));
    expect([fault.code, fault.message]).toEqual([
      'timeout',
      expect.stringMatching(/: no connection after 1500 ms$/),
    ]);
    expect([connected.errored, connected.destroyed]).toEqual([null, false]);
    connected.destroy();
    await mute.close();
  });

  test('ends when it is aborted before a response arrives', async () => {
    const stopping = new AbortController();
    lists.serve('/list', () => stopping.abort());
    const fault = await faultOf(ask(lists.url('/list'), ways({}, { signal: stopping.signal })));
    expect([fault.code, fault.message]).toEqual(['network', expect.stringMatching(/aborted/)]);
  });

  test('ends with the reason of the abort, also while the body is read', async () => {
    const stopping = new AbortController();
    const { signal } = stopping;
    lists.serve('/list', (_, response) => void response.write(LIST));
    const response = await ask(lists.url('/list'), ways({}, { signal }));
    const reason = new ListError('timeout', 'not finished');
    stopping.abort(reason);
    const thrown: unknown = await text(response).catch((error: unknown) => error);
    expect(asListError(thrown, new URL(lists.url('/list')), signal)).toBe(reason);
  });

  test('reports that the connection was closed before the end of the body', async () => {
    lists.serve('/list', (_, response) => {
      response.writeHead(200, { 'Content-Length': '1000' }).write(LIST, () => response.destroy());
    });
    const response = await ask(lists.url('/list'));
    const thrown: unknown = await text(response).catch((error: unknown) => error);
    const { signal } = new AbortController();
    expect(asListError(thrown, new URL(lists.url('/list')), signal)).toMatchObject({
      code: 'network',
      message: `could not fetch ${lists.url('/list')}: the connection was closed before the end`,
    });
  });
});

describe('requestList() over TLS', () => {
  const trusted = getCACertificates('default');
  let authority: TestAuthority;
  let server: TlsServer;
  let base: string;
  let location: string | undefined;

  beforeAll(async () => {
    authority = new TestAuthority();
    const { cert, key } = authority.issue('IP:127.0.0.1');
    server = createTlsServer({ cert, key }, (_, response) => {
      if (location === undefined) response.end(LIST);
      else response.writeHead(302, { Location: location }).end();
    });
    base = `https://127.0.0.1:${await listen(server)}`;
  });
  beforeEach(() => {
    location = undefined;
    setDefaultCACertificates([authority.cert]);
  });
  afterAll(async () => {
    setDefaultCACertificates(trusted);
    server.closeAllConnections();
    await stop(server);
    authority.close();
  });

  test('fetches from a server with a certificate that the system trusts', async () => {
    expect(await text(await ask(`${base}/list`))).toBe(LIST);
  });

  test('refuses a certificate that no CA of this machine has signed', async () => {
    setDefaultCACertificates(trusted);
    const fault = await faultOf(ask(`${base}/list`));
    expect([fault.code, fault.message]).toEqual(['network', expect.stringMatching(/certificate/)]);
  });

  test('refuses a redirect from https to http', async () => {
    lists.serve('/list', LIST);
    location = lists.url('/list');
    const fault = await faultOf(ask(`${base}/list`));
    expect([fault.code, fault.message]).toEqual([
      'redirects',
      `could not fetch ${base}/list: redirects to http: are not followed`,
    ]);
    expect(lists.requests).toEqual([]);
  });
});

describe('asListError()', () => {
  const url = new URL('http://user:secret@lists.example/a');
  const { signal } = new AbortController();

  /** An error of the system or of zlib. */
  function failure(code: string): Error {
    return Object.assign(new Error(`${code}: it failed`), { code });
  }

  test('returns a ListError unchanged', () => {
    const error = new ListError('empty', 'the list is empty');
    expect(asListError(error, url, signal)).toBe(error);
  });

  test('prefers the ListError that aborted the request to any other error', () => {
    const reason = new ListError('timeout', 'not finished');
    expect(asListError(failure('EPIPE'), url, AbortSignal.abort(reason))).toBe(reason);
    expect(asListError(failure('EPIPE'), url, AbortSignal.abort())).toMatchObject({ code: 'network' });
  });

  test.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES', 'ENOENT'])(
    'reports %s as a disk error',
    (code) => {
      const cause = failure(code);
      const { code: kind, message, cause: kept } = asListError(cause, url, signal);
      expect([kind, message]).toEqual([
        'disk',
        expect.stringMatching(/^could not store http:\/\/\*\*\*@lists\.example\/a: [a-zA-Z/ -]+$/),
      ]);
      expect(kept).toBe(cause);
    },
  );

  test('reports an error of zlib as damaged data', async () => {
    const gunzip = createGunzip();
    gunzip.end('no gzip');
    const cause: unknown = await once(gunzip, 'data').catch((error: unknown) => error);
    expect(asListError(cause, url, signal)).toMatchObject({
      code: 'bad_encoding',
      message: 'could not fetch http://***@lists.example/a: the compressed data is damaged',
      cause,
    });
  });

  test('reports all other errors as network errors, and only the first of several errors', () => {
    const both = new AggregateError([failure('ECONNREFUSED'), failure('ENETUNREACH')]);
    for (const [error, reason] of [
      [failure('ECONNRESET'), 'the server closed the connection (ECONNRESET)'],
      [both, 'the server refused the connection (ECONNREFUSED)'],
      [new Error('aborted'), 'the connection was closed before the end'],
      ['thrown text', 'thrown text'],
    ] as const)
      expect(asListError(error, url, signal)).toMatchObject({
        code: 'network',
        message: `could not fetch http://***@lists.example/a: ${reason}`,
        cause: error,
      });
  });
});
