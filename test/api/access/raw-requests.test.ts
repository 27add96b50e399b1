/**
 * Requests as raw bytes: heads that are too large or too slow, and framing that two servers might interpret
 * differently.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createApp } from '../../../control-plane/web/server/app.ts';
import { startWebServer } from '../../../control-plane/web/edge/server.ts';
import type { WebServer } from '../../../control-plane/web/edge/server.ts';
import { makeSelfSigned } from '../../../control-plane/web/tls/self-signed.ts';
import { Problem } from '../../../shared/api/problem-details.ts';
import { everyRoute } from '../../support/parts/every-route.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';
import { within } from '../../support/parts/until.ts';
import { closeOf } from '../../support/weir/socket-ends.ts';

let suite: SuiteDatabase;
let api: RunningApi;
/** A server of the same API with a time-out of half a second for slow clients. */
let hasty: WebServer;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute());
  const pair = await makeSelfSigned(['localhost'], Date.now());
  const certificate = { current: () => pair, onChange: () => () => undefined };
  const deadlines = { headMs: 500, requestMs: 800, idleMs: 500, silentMs: 5000 };
  const app = createApp(api.parts, api.routes);
  hasty = await startWebServer(app, api.parts.configuration.current(), new MemoryLogger(), {
    certificate,
    deadlines,
  });
});
afterAll(async () => {
  await hasty.close();
  await api.close();
  await suite.close();
});

const HOST = 'Host: 127.0.0.1\r\n';
const POST = `POST /api/auth/logout HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
/**
 * A request that a proxy might forward as part of the previous request, if proxy and server disagree about where the
 * previous request ends.
 */
const SMUGGLED = `GET /api/health HTTP/1.1\r\n${HOST}\r\n`;

interface RawAnswer {
  readonly statuses: readonly number[];
  /** Head of the last response. */
  readonly head: string;
  readonly body: string;
}

/** All received bytes until the connection ends. */
async function answersTo(octets: string | Uint8Array): Promise<RawAnswer> {
  const socket = connect(api.port, '127.0.0.1');
  const chunks: Buffer[] = [];
  // Ends the connection only after a response, because Node drops a request whose client has half-closed. A request
  // that is sent after the first part of a response is handled after everything sent before.
  socket.on('data', (chunk: Buffer) => {
    if (chunks.push(chunk) === 1) void api.send('GET', '/api/health').then(() => socket.end());
  });
  const closed = closeOf(socket);
  socket.write(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets);
  await closed;
  const text = Buffer.concat(chunks).toString('latin1');
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
  const last = text.slice(Math.max(0, text.lastIndexOf('HTTP/1.1 ')));
  const end = last.indexOf('\r\n\r\n');
  return { statuses, head: last.slice(0, end), body: last.slice(end + 4) };
}

/** Expects a single response, a problem with this status, and the end of the connection. */
function expectRefused({ statuses, head, body }: RawAnswer, status: number, error: string): void {
  expect(statuses).toEqual([status]);
  const problem = Problem.parse(JSON.parse(body));
  expect([problem.status, problem.error]).toEqual([status, error]);
  expect(head).toMatch(/^Content-Type: application\/problem\+json/im);
  expect(head).toMatch(/^Content-Security-Policy: default-src 'none'/im);
  expect(head).not.toMatch(/^(X-Powered-By|Server):/im);
}

const get = (target: string, fields = ''): string => `GET ${target} HTTP/1.1\r\n${HOST}${fields}\r\n`;

describe('a request with ambiguous framing', () => {
  test.each([
    ['two Content-Length', `${POST}Content-Length: 3\r\nContent-Length: 2\r\n\r\n{} `],
    ['the same Content-Length twice', `${POST}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    ['a list in Content-Length', `${POST}Content-Length: 2, 2\r\n\r\n{}`],
    ['a sign in Content-Length', `${POST}Content-Length: +2\r\n\r\n{}`],
    ['a negative Content-Length', `${POST}Content-Length: -2\r\n\r\n{}`],
    ['a hexadecimal Content-Length', `${POST}Content-Length: 0x2\r\n\r\n{}`],
    ['an empty Content-Length', `${POST}Content-Length:\r\n\r\n{}`],
    ['a Content-Length beyond 64 bits', `${POST}Content-Length: 99999999999999999999\r\n\r\n{}`],
    [
      'Transfer-Encoding and Content-Length',
      `${POST}${CHUNKED}Content-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    [
      'Content-Length and Transfer-Encoding',
      `${POST}Content-Length: 2\r\n${CHUNKED}\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    ['two Transfer-Encoding', `${POST}${CHUNKED}${CHUNKED}\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['an unknown Transfer-Encoding', `${POST}Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    [
      'chunked that is not the last coding',
      `${POST}Transfer-Encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    ['a coding before chunked', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['identity', `${POST}Transfer-Encoding: identity\r\n\r\n{}`],
    ['a vertical tab before chunked', `${POST}Transfer-Encoding:\x0bchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['a space before the colon', `${POST}Transfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['chunked in HTTP/1.0', `${POST.replace('/1.1', '/1.0')}${CHUNKED}\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['a folded field', `${POST}X-Long: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`],
    ['a folded Transfer-Encoding', `${POST}Transfer-Encoding:\r\n chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['a space before the first field', `GET / HTTP/1.1\r\n ${HOST}\r\n`],
    ['LF alone', `GET / HTTP/1.1\n${HOST}\n`],
    ['LF alone after a field', `GET / HTTP/1.1\r\nHost: 127.0.0.1\nX: y\r\n\r\n`],
    ['LF alone at the end of the head', `GET / HTTP/1.1\r\n${HOST}\n`],
    ['CR within a field', `GET / HTTP/1.1\r\n${HOST}X: a\rb\r\n\r\n`],
    ['NUL within a field', `GET / HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`],
    ['a field without a name', `GET / HTTP/1.1\r\n${HOST}: x\r\n\r\n`],
    ['a line without a colon', `GET / HTTP/1.1\r\n${HOST}nothing\r\n\r\n`],
    ['LF alone after the size of a chunk', `${POST}${CHUNKED}\r\n2\n{}\r\n0\r\n\r\n`],
    ['LF within an extension of a chunk', `${POST}${CHUNKED}\r\n2;a\nb\r\n{}\r\n0\r\n\r\n`],
    ['0x before the size of a chunk', `${POST}${CHUNKED}\r\n0x2\r\n{}\r\n0\r\n\r\n`],
    ['a chunk longer than its size', `${POST}${CHUNKED}\r\n2\r\n{}  \r\n0\r\n\r\n`],
    ['a chunk beyond 64 bits', `${POST}${CHUNKED}\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n`],
    ['Content-Length in the trailer', `${POST}${CHUNKED}\r\n2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n`],
    ['no version', 'GET /\r\n'],
    ['version 1.2', `GET / HTTP/1.2\r\n${HOST}\r\n`],
    ['version 2.0', `GET / HTTP/2.0\r\n${HOST}\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
    ['a space in the target', get('/a b')],
    ['NUL in the target', get('/a\0b')],
    ['bytes above ASCII in the target', get('/\xff')],
    ['a method in lower case', `get / HTTP/1.1\r\n${HOST}\r\n`],
    ['an unknown method', `FOO / HTTP/1.1\r\n${HOST}\r\n`],
  ])('is rejected once, and nothing after the request is read: %s', async (_what, octets) => {
    const answer = await answersTo(octets + SMUGGLED);
    expectRefused(answer, 400, 'malformed');
  });

  test('may be chunked or have a length, as proxies send requests', async () => {
    for (const body of [`${CHUNKED}\r\n2\r\n{}\r\n0\r\n\r\n`, 'Content-Length: 2\r\n\r\n{}'])
      expect((await answersTo(POST + body + SMUGGLED)).statuses).toEqual([204, 200]);
  });
});

describe('limits on the request header:', () => {
  test.each([
    [8193, 414],
    [15_000, 414],
    [20_000, 414],
    [60_000, 414],
  ])('a request target of %d characters gets %d', async (length, status) => {
    expectRefused(await answersTo(get(`/${'a'.repeat(length - 1)}`)), status, 'too_large');
  });

  test('a request target of 8192 characters is accepted', async () => {
    const { statuses } = await answersTo(get(`/${'a'.repeat(8191)}`));
    expect(statuses).toEqual([404]);
  });

  test.each([
    ['a field of 17,000 bytes', get('/', `X: ${'a'.repeat(17_000)}\r\n`)],
    ['fields of 20,000 bytes', get('/', `X: ${'a'.repeat(1000)}\r\n`.repeat(20))],
    ['a name of 17,000 bytes', get('/', `${'a'.repeat(17_000)}: x\r\n`)],
    ['101 fields', get('/', 'X: a\r\n'.repeat(100))],
    ['2,500 fields', get('/', 'a:\r\n'.repeat(2500))],
  ])('%s gets 431', async (_what, octets) => {
    expectRefused(await answersTo(octets), 431, 'too_large');
  });

  test('100 header fields are accepted', async () => {
    expect((await answersTo(get('/api/health', 'X: a\r\n'.repeat(99)))).statuses).toEqual([200]);
  });

  test('a megabyte of header fields is answered before it is read completely', async () => {
    const answer = await answersTo(`GET / HTTP/1.1\r\n${HOST}${`X: ${'a'.repeat(1000)}\r\n`.repeat(1000)}`);
    expectRefused(answer, 431, 'too_large');
  });
});

describe('a request for another protocol', () => {
  const upgrade = (protocol: string, more = ''): string =>
    get(
      '/api/health',
      `Connection: Upgrade${more === '' ? '' : ', HTTP2-Settings'}\r\nUpgrade: ${protocol}\r\n${more}`,
    );

  test('h2c is ignored: HTTP/1.1 continues with the same authentication', async () => {
    const settings = 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n';
    const first = await answersTo(upgrade('h2c', settings));
    expect([first.statuses, /^Upgrade:/im.test(first.head)]).toEqual([[200], false]);
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    // If the first response is still being sent, the connection ends without a second response.
    expect(['200', '200 400']).toContain(
      (await answersTo(upgrade('h2c', settings) + preface)).statuses.join(' '),
    );
  });

  test.each(['websocket', 'TLS/1.0', 'h2', 'h2c, websocket', 'foo'])(
    'Upgrade: %s is rejected',
    async (protocol) => {
      expectRefused(await answersTo(upgrade(protocol)), 400, 'upgrade_refused');
    },
  );

  test('CONNECT opens no tunnel', async () => {
    for (const target of ['127.0.0.1:80', 'localhost:22', '/api/groups'])
      expect(
        (await answersTo(`CONNECT ${target} HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`)).statuses,
      ).not.toContain(200);
  });

  test('OPTIONS * and request targets on other servers are 400', async () => {
    for (const line of ['OPTIONS *', 'GET http://evil.example/', 'GET //evil.example/'])
      expect((await answersTo(`${line} HTTP/1.1\r\n${HOST}\r\n`)).statuses).toEqual([
        line.includes('//evil') && !line.includes('http:') ? 404 : 400,
      ]);
  });

  test('an Expect header other than 100-continue is 417', async () => {
    expect((await answersTo(`${POST}Expect: x\r\nContent-Length: 2\r\n\r\n{}`)).statuses[0]).toBe(417);
  });
});

describe('a slow request', () => {
  const plain = (): Socket => connect(hasty.endpoints[0]!.port, '127.0.0.1');
  const untilClosed = async (socket: Socket): Promise<string> => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await closeOf(socket);
    return text;
  };

  test.each([
    ['the head', `GET / HTTP/1.1\r\n${HOST}X: `],
    ['the body', `${POST}Content-Length: 100\r\n\r\n{`],
  ])('with %s is 408 over HTTP and HTTPS', async (_part, octets) => {
    const secured = connectTls({
      port: hasty.endpoints[0]!.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
    });
    await within('a TLS handshake', once(secured, 'secureConnect'));
    const sockets = [plain(), secured];
    const responses = await Promise.all(
      sockets.map((socket) => {
        socket.write(octets);
        return untilClosed(socket);
      }),
    );
    for (const text of responses) expect(text).toMatch(/^HTTP\/1\.1 408 [^]*"error":"timeout"/);
  });

  test('with an incomplete or malformed TLS handshake gets no response', async () => {
    for (const octets of ['16030100f4010000f00303', '1603010005010000000a']) {
      const socket = plain();
      socket.write(Buffer.from(octets, 'hex'));
      expect(await untilClosed(socket)).not.toContain('HTTP');
    }
  });
});

test('no malformed request causes an error in the log or affects the server', async () => {
  expect((await api.send('GET', '/api/health')).status).toBe(200);
  expect(api.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
});
