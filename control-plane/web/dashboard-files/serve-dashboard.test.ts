import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { madeBuild, someFiles } from '../../../test/support/parts/made-dist.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { within } from '../../../test/support/parts/until.ts';
import { DashboardPath } from '../../../shared/dashboard-paths.ts';
import { problemHandler } from '../../api/problem.ts';
import type { DashboardState } from '../built-dashboard/dashboard-state.ts';
import { serveDashboard } from './serve-dashboard.ts';

const PAGE = someFiles()['index.html']!;
const SCRIPT = someFiles()['assets/main-abc123.js']!;
const SCRIPT_PATH = '/assets/main-abc123.js';

let server: Server;
let port: number;
let hasLogin: boolean;
let built: DashboardState;
let state: DashboardState;

beforeAll(async () => {
  built = { kind: 'built', build: await madeBuild() };
  const app = express();
  app.disable('etag');
  const { serve, serveUnknown } = serveDashboard({
    dashboard: { state: async () => state },
    settings: { apiBase: '/api' },
    hasLogin: () => hasLogin,
    sendInstead: (_request, response, { kind }) => void response.send(`<p>${kind}</p>`),
  });
  app.use(serve, serveUnknown);
  app.use((_request, response) => void response.status(404).end('handed on'));
  app.use(problemHandler(new MemoryLogger()));
  server = createServer({ maxHeaderSize: 16 * 1024 }, app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  state = built;
  hasLogin = true;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await within('the server to close', once(server, 'close'));
});

/** Sends one request unchanged, and reads to the end of the connection; fetch would decode and rewrite it. */
async function send(method: string, path: string, fields: Readonly<Record<string, string>> = {}) {
  const socket = connect(port, '127.0.0.1');
  const lines = Object.entries({ Host: 'localhost', Connection: 'close', ...fields }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const answer = Buffer.concat(await socket.toArray());
  const end = answer.indexOf('\r\n\r\n');
  const [first = '', ...rest] = answer.subarray(0, end).toString().split('\r\n');
  const headers = Object.fromEntries(
    rest.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  return { status: Number(first.split(' ')[1]), headers, body: answer.subarray(end + 4) };
}

describe('serveDashboard() with a build', () => {
  test.each(Object.values(DashboardPath).map((path) => `/${path}`))(
    'serves the dashboard document at %s',
    async (path) => {
      const { status, headers, body } = await send('GET', path);
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-cache',
      ]);
      expect(body.toString()).toBe(PAGE);
    },
  );

  test('allows the document its own files, but no inline code or style', async () => {
    const { headers } = await send('GET', '/queries?domain=example.org');
    expect(headers['content-security-policy']!.split('; ').sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data:",
      "manifest-src 'self'",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
    ]);
  });

  test('announces the files of a page in a Link header', async () => {
    const links = async (path: string, cookie: string) =>
      ((await send('GET', path, { Cookie: cookie })).headers['link'] ?? '').split(', ');
    const scripts = ['<./start.js>; rel=preload; as=script', '<./svc-config.js>; rel=preload; as=script'];
    const ofQueries = [
      ...scripts,
      '<./assets/main-abc123.js>; rel=modulepreload',
      '<./assets/style-abc123.css>; rel=preload; as=style; crossorigin',
    ];
    expect(await links('/queries', 'a=b; svc_session=x')).toEqual(ofQueries);
    expect(await links('/nodes', 'svc_session=x')).toEqual(scripts);
    // Without a session, the document shows the login page.
    const ofLogin = [...scripts, '<./assets/login-abc123.js>; rel=modulepreload'];
    for (const path of ['/', '/queries', '/login'])
      expect([path, await links(path, 'a=b')]).toEqual([path, ofLogin]);
    hasLogin = false;
    expect(await links('/queries', 'a=b')).toEqual(ofQueries);
    expect((await send('GET', SCRIPT_PATH)).headers['link']).toBeUndefined();
  });

  test('lets browsers cache hashed files forever, and revalidate other files', async () => {
    expect((await send('GET', SCRIPT_PATH)).headers['cache-control']).toBe(
      'public, max-age=31536000, immutable',
    );
    for (const path of ['/', '/mark.svg', '/svc-config.js'])
      expect([path, (await send('GET', path)).headers['cache-control']]).toEqual([path, 'no-cache']);
  });

  test('sends each encoding with a separate ETag', async () => {
    const plain = await send('GET', SCRIPT_PATH);
    expect([plain.headers['content-encoding'], plain.body.toString()]).toEqual([undefined, SCRIPT]);
    const br = await send('GET', SCRIPT_PATH, { 'Accept-Encoding': 'gzip, br' });
    expect([br.headers['content-encoding'], brotliDecompressSync(br.body).toString()]).toEqual([
      'br',
      SCRIPT,
    ]);
    const gzip = await send('GET', SCRIPT_PATH, { 'Accept-Encoding': 'gzip' });
    expect([gzip.headers['content-encoding'], gunzipSync(gzip.body).toString()]).toEqual(['gzip', SCRIPT]);
    const all = [plain, br, gzip];
    expect(new Set(all.map(({ headers }) => headers['etag'])).size).toBe(3);
    for (const { headers, body } of all)
      expect([headers['vary'], headers['content-length']]).toEqual(['Accept-Encoding', String(body.length)]);
  });

  test.each<[string, (etag: string) => string]>([
    ['the tag', (etag) => etag],
    ['the weak tag', (etag) => `W/${etag}`],
    ['one of several', (etag) => `"old", ${etag} , "other"`],
    ['any', () => '*'],
  ])('answers 304 if If-None-Match contains %s', async (_, fieldOf) => {
    const { headers } = await send('GET', '/queries');
    const again = await send('GET', '/queries', { 'If-None-Match': fieldOf(headers['etag']!) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    for (const name of ['etag', 'vary', 'cache-control', 'content-security-policy'])
      expect([name, again.headers[name]]).toEqual([name, headers[name]]);
  });

  test('answers 200 to the ETag of a different encoding or build', async () => {
    const { headers } = await send('GET', '/', { 'Accept-Encoding': 'br' });
    for (const tag of [headers['etag']!, '"', '', '"*"'])
      expect((await send('GET', '/', { 'If-None-Match': tag })).status).toBe(200);
  });

  test('answers HEAD with the header of GET, without a body', async () => {
    for (const path of ['/', SCRIPT_PATH, '/svc-config.js']) {
      const [get, head] = [await send('GET', path), await send('HEAD', path)];
      expect([head.status, head.body.length]).toEqual([200, 0]);
      for (const name of ['etag', 'content-type', 'content-length', 'cache-control'])
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    }
  });

  test.each(['POST', 'PUT', 'DELETE', 'TRACE'])('answers %s with 405', async (method) => {
    for (const path of ['/', '/login', SCRIPT_PATH, '/svc-config.js']) {
      const { status, headers, body } = await send(method, path);
      expect([path, status, headers['allow']]).toEqual([path, 405, 'GET, HEAD, OPTIONS']);
      expect(JSON.parse(body.toString())).toMatchObject({ error: 'method_not_allowed' });
    }
  });

  test.each([
    '/index.html',
    '/assets/gone-000000.js',
    '/assets/',
    '/assets',
    `${SCRIPT_PATH}.br`,
    `${SCRIPT_PATH}/`,
    `/${SCRIPT_PATH}`,
    '/dashboard.json',
    '/.vite/manifest.json',
    '/../dashboard.json',
    '/assets/../index.html',
    '/assets/..%2findex.html',
    '/%2e%2e/dashboard.json',
    '/assets%2fmain-abc123.js',
    '/assets/main-abc123.js%00',
    '/%00',
    '/queries/',
    '/queries/1',
    '/Queries',
    '//queries',
    '/__proto__',
    '/constructor',
    '/overview',
  ])('does not answer %s', async (path) => {
    const { status, body } = await send('GET', path);
    expect([status, body.toString()]).toEqual([404, 'handed on']);
  });

  test('answers a request header of the maximum size', async () => {
    const { status, headers } = await send('GET', '/', { 'Accept-Encoding': `${'a,'.repeat(7500)}br` });
    expect([status, headers['content-encoding']]).toEqual([200, undefined]);
  });

  test('serves the next build as soon as there is one', async () => {
    state = { kind: 'built', build: await madeBuild(someFiles('two')) };
    expect((await send('GET', '/')).body.toString()).toContain('<title>two</title>');
  });

  test('sends the page its settings in svc-config.js', async () => {
    const { headers, body } = await send('GET', '/svc-config.js');
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(body.toString()).toBe('window.__SVC_CONFIG__ = {"apiBase":"/api"};\n');
    const again = await send('GET', '/svc-config.js', { 'If-None-Match': headers['etag']! });
    expect(again.status).toBe(304);
  });
});

describe('serveUnknown(), for paths that do not exist,', () => {
  const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  test('sends a browser the dashboard document with status 404', async () => {
    const { status, headers, body } = await send('GET', '/nothing', BROWSER);
    expect([status, body.toString()]).toEqual([404, PAGE]);
    expect(headers['content-security-policy']).toContain("script-src 'self'");
    const again = await send('GET', '/nothing', { ...BROWSER, 'If-None-Match': headers['etag']! });
    expect([again.status, again.body.toString()]).toEqual([404, PAGE]);
    expect(await send('HEAD', '/nothing', BROWSER)).toMatchObject({ status: 404, body: Buffer.alloc(0) });
  });

  test.each([
    ['/nothing/', '../nothing'],
    ['/queries/1', '../1'],
    ['/a/b/queries/', '../../../queries'],
    ['/a//evil.example', '../../evil.example'],
    ['//evil.example', '../evil.example'],
    ['/a/%0d%0aSet-Cookie:x', '../%0d%0aSet-Cookie:x'],
  ])('redirects a browser from %s to the relative URL %s', async (path, location) => {
    const { status, headers } = await send('GET', path, BROWSER);
    expect([status, headers['location'], headers['set-cookie']]).toEqual([302, location, undefined]);
    const from = new URL(`http://weir.example/prefix${path}`);
    expect(new URL(location, from).href).toBe(`http://weir.example/prefix/${location.replaceAll('../', '')}`);
  });

  test('does not answer requests of programs and requests with other methods', async () => {
    for (const [method, fields] of [
      ['GET', { Accept: '*/*' }],
      ['GET', { Accept: 'application/json' }],
      ['GET', {}],
      ['POST', BROWSER],
    ] as const)
      expect((await send(method, '/nothing', fields)).body.toString()).toBe('handed on');
    state = { kind: 'building' };
    expect((await send('GET', '/nothing', BROWSER)).body.toString()).toBe('handed on');
  });
});

describe('serveDashboard() without a build', () => {
  test.each<DashboardState>([{ kind: 'building' }, { kind: 'missing', reason: 'no room' }])(
    'serveDashboard() reports for each page that there is no build: %j',
    async (without) => {
      state = without;
      for (const path of ['/', '/queries']) {
        const { status, headers, body } = await send('GET', path);
        expect([status, body.toString()]).toEqual([200, `<p>${without.kind}</p>`]);
        expect(headers['etag']).toBeUndefined();
      }
      expect((await send('POST', '/')).status).toBe(405);
      expect((await send('GET', SCRIPT_PATH)).status).toBe(404);
      expect((await send('GET', '/svc-config.js')).status).toBe(200);
    },
  );
});
