import { once } from 'node:events';
import type {
  Http2SecureServer,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2';
import { constants, createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Clock } from '../../../shared/clock.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import type { TestCertificate } from '../../../test/support/dns/certificates.ts';
import { a, idOf, question, questionOf, response } from '../../../test/support/dns/built-messages.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { type ExchangeOutcome, ONLY_HTTP1 } from './exchange.ts';
import { HttpsUpstream } from './exchange-https.ts';
import { TlsConnector } from './tls-stream.ts';

const WWW = question('www.example.org', 'A');
const OK = { ':status': 200, 'content-type': 'application/dns-message' };

interface Request {
  readonly headers: IncomingHttpHeaders;
  readonly message: Buffer;
  readonly stream: ServerHttp2Stream;
}

let nowMs = 0;
const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
let authority: TestAuthority;
let certificate: TestCertificate;
let server: Http2SecureServer;
let upstream: HttpsUpstream;
let requests: Request[];
let sessions: ServerHttp2Session[];
let script: (request: Request, index: number) => void;

beforeAll(() => {
  authority = new TestAuthority();
  certificate = authority.issue('DNS:dns.example.org');
});

afterAll(() => authority.close());

beforeEach(async () => {
  nowMs = 0;
  requests = [];
  sessions = [];
  script = good;
  server = createSecureServer({ cert: certificate.cert, key: certificate.key });
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const encoded = new URL(headers[':path'] ?? '', 'https://dns.example.org').searchParams.get('dns');
      const message = encoded === null ? Buffer.concat(chunks) : Buffer.from(encoded, 'base64url');
      const request = { headers, message, stream };
      requests.push(request);
      script(request, requests.length - 1);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  upstream = upstreamAt((server.address() as AddressInfo).port);
});

afterEach(async () => {
  upstream.close();
  for (const session of sessions) session.destroy();
  if (server.listening) await within('the server to close', new Promise((done) => server.close(done)));
});

function upstreamAt(port: number, path = '/dns-query'): HttpsUpstream {
  const tls = new TlsConnector('dns.example.org', ['h2'], [authority.cert]);
  const address = { ip: '127.0.0.1', port, family: 4 } as const;
  return new HttpsUpstream(
    { host: 'dns.example.org', server: address, path, open: (to) => tls.open(to) },
    clock,
  );
}

function ask(asked = WWW): Promise<ExchangeOutcome> {
  return within('the outcome', new Promise((resolve) => void upstream.ask(asked, resolve)));
}

function answerTo(message: Uint8Array): Uint8Array {
  return response(questionOf(message), {
    id: idOf(message),
    answers: [a(Uint8Array.of(0xc0, 12), '192.0.2.1')],
  });
}

function good({ stream, message }: Request): void {
  stream.respond(OK);
  stream.end(answerTo(message));
}

describe('HttpsUpstream (DNS over HTTPS)', () => {
  test('ask() sends the query by POST with ID 0 and padding, and keeps the session open', async () => {
    for (let i = 0; i < 3; i++) expect((await ask()).kind).toBe('answer');
    expect(sessions).toHaveLength(1);
    expect(requests.map(({ message }) => [message.length, idOf(message)])).toEqual([
      [128, 0],
      [128, 0],
      [128, 0],
    ]);
    expect(requests[0]!.headers).toMatchObject({
      ':method': 'POST',
      ':path': '/dns-query',
      accept: 'application/dns-message',
      'content-type': 'application/dns-message',
    });
    expect(requests[0]!.headers[':authority']).toMatch(/^dns\.example\.org:\d+$/);
  });

  test('ask() uses GET if the path is a URI template', async () => {
    upstream.close();
    upstream = upstreamAt((server.address() as AddressInfo).port, '/q{?dns}');
    expect((await ask()).kind).toBe('answer');
    expect(requests[0]!.headers).toMatchObject({ ':method': 'GET' });
    expect(requests[0]!.headers[':path']).toMatch(/^\/q\?dns=[\w-]+$/);
    expect(questionOf(requests[0]!.message)).toMatchObject({ qtype: 1 });
  });

  test('ask() accepts answers in any order on one session', async () => {
    script = (_request, index) => {
      if (index === 49) for (const request of [...requests].reverse()) good(request);
    };
    const names = Array.from({ length: 50 }, (_, i) => question(`w${String(i)}.example.org`, 'A'));
    const outcomes = await Promise.all(names.map((asked) => ask(asked)));
    expect(outcomes.every(({ kind }) => kind === 'answer')).toBe(true);
    expect(sessions).toHaveLength(1);
  });

  test('ask() queues queries beyond the stream limit of the server, and none fails', async () => {
    server.updateSettings({ maxConcurrentStreams: 5 });
    const open = { now: 0, max: 0 };
    script = (request) => {
      open.max = Math.max(open.max, ++open.now);
      setTimeout(() => {
        open.now--;
        good(request);
      }, 5);
    };
    expect((await ask()).kind).toBe('answer');
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => ask()));
    expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'answer'));
    expect(open.max).toBeLessThanOrEqual(4 * 5);
  });

  test('ask() leaves space for other networks if the queries of one network are never answered', async () => {
    const isHeld = ({ message }: Request): boolean => questionOf(message).qtype === RRType.TXT;
    script = (request) => {
      if (!isHeld(request)) good(request);
    };
    const held = question('held.example.org', 'TXT');
    for (let i = 0; i < 5000; i++) upstream.ask({ ...held, network: 'greedy' }, () => undefined);
    for (let i = 0; i < 20; i++) expect((await ask({ ...WWW, network: 'modest' })).kind).toBe('answer');
    expect(requests.filter(isHeld).length).toBeLessThanOrEqual((4 * 128) / 2);
  });

  test('ask() repeats a query without EDNS if the server rejects EDNS, and remembers the rejection', async () => {
    script = (request) => {
      if (request.message[11] === 0) good(request);
      else {
        request.stream.respond(OK);
        request.stream.end(
          response(questionOf(request.message), { id: idOf(request.message), flags: 0x8181 }),
        );
      }
    };
    for (let i = 0; i < 2; i++) expect((await ask()).kind).toBe('answer');
    expect(requests.map(({ message }) => message[11])).toEqual([1, 0, 0]);
  });

  test('ask() subtracts the age that an HTTP cache reports from the TTLs of the answer', async () => {
    script = ({ stream, message }) => {
      stream.respond({ ...OK, age: '100' });
      stream.end(answerTo(message));
    };
    const outcome = await ask();
    expect(outcome.kind === 'answer' && outcome.answer.minTtlSecs).toBe(200);
  });

  test.each<[string, (request: Request) => void, string]>([
    ['HTTP 503', ({ stream }) => stream.respond({ ':status': 503 }, { endStream: true }), 'HTTP 503'],
    [
      'a redirect',
      ({ stream }) => stream.respond({ ':status': 302, location: '/' }, { endStream: true }),
      'HTTP 302',
    ],
    [
      'a page',
      ({ stream }) => {
        stream.respond({ ':status': 200, 'content-type': 'text/html; charset=utf-8' });
        stream.end('<html>');
      },
      'response has type text/html',
    ],
    [
      'an answer to another question (GHSA-4qjf-2hgm-92q6)',
      ({ stream, message }) => {
        stream.respond(OK);
        stream.end(response(question('www.example.com', 'A'), { id: idOf(message) }));
      },
      'malformed response',
    ],
    [
      'noise',
      ({ stream }) => {
        stream.respond(OK);
        stream.end(Buffer.alloc(64, 0xff));
      },
      'malformed response',
    ],
    [
      'more than a message can hold',
      ({ stream }) => {
        stream.respond(OK);
        stream.end(Buffer.alloc(65_536));
      },
      'response is too large',
    ],
    [
      'an answer with malformed data',
      ({ stream, message }) => {
        stream.respond(OK);
        const record = { ...a(Uint8Array.of(0xc0, 12), '192.0.2.1'), rdata: new Uint8Array(3) };
        stream.end(response(questionOf(message), { id: idOf(message), answers: [record] }));
      },
      'malformed-data',
    ],
    [
      'an answer that is truncated even here',
      ({ stream, message }) => {
        stream.respond(OK);
        stream.end(response(questionOf(message), { id: idOf(message), flags: 0x8380 }));
      },
      'truncated',
    ],
    ['a reset stream', ({ stream }) => stream.close(constants.NGHTTP2_INTERNAL_ERROR), 'stream reset (2)'],
  ])('ask() fails on %s', async (_what, how, detail) => {
    script = how;
    expect(await ask()).toMatchObject({ kind: 'failed', detail });
    script = good;
    expect((await ask()).kind).toBe('answer');
    expect(sessions).toHaveLength(1);
  });

  test('ask() sends a query again that the server refused to process', async () => {
    script = (request, index) => {
      if (index === 0) request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else good(request);
    };
    expect((await ask()).kind).toBe('answer');
  });

  test('ask() continues on a new session after GOAWAY', async () => {
    await ask();
    const gone = once(sessions[0]!, 'close');
    sessions[0]!.goaway();
    sessions[0]!.close();
    await within('the session to close', gone);
    expect((await ask()).kind).toBe('answer');
    expect(sessions).toHaveLength(2);
  });

  test('ask() sends the query once more when a kept session is closed', async () => {
    await ask();
    script = (request, index) => {
      if (index === 1) request.stream.session?.destroy();
      else good(request);
    };
    expect((await ask()).kind).toBe('answer');
    expect(sessions).toHaveLength(2);
  });

  test('cancel() closes a session that has become silent', async () => {
    await ask();
    script = () => undefined;
    const exchange = upstream.ask(WWW, () => undefined);
    await until(
      'the second request',
      () => requests.length,
      (count) => count === 2,
    );
    nowMs += 1500;
    exchange.cancel();
    script = good;
    expect((await ask()).kind).toBe('answer');
    expect(sessions).toHaveLength(2);
  });

  test('ask() fails if no server listens, HTTP/2 is not supported, or the certificate is wrong', async () => {
    const wrong = authority.issue('DNS:other.example.org');
    const other = createSecureServer({ cert: wrong.cert, key: wrong.key });
    const sockets: Socket[] = [];
    other.on('connection', (socket: Socket) => sockets.push(socket));
    other.listen(0, '127.0.0.1');
    const old = createTlsServer({ cert: certificate.cert, key: certificate.key }, (socket) =>
      socket.on('error', () => undefined),
    );
    old.on('connection', (socket: Socket) => sockets.push(socket));
    old.listen(0, '127.0.0.1');
    const web = createHttpsServer({ cert: certificate.cert, key: certificate.key });
    web.on('connection', (socket: Socket) => sockets.push(socket));
    web.listen(0, '127.0.0.1');
    const servers = [old, web, other];
    await Promise.all(servers.map((each) => once(each, 'listening')));
    const details: unknown[] = [];
    for (const target of [1, ...servers.map((each) => (each.address() as AddressInfo).port)]) {
      upstream.close();
      upstream = upstreamAt(target);
      details.push(await ask());
    }
    expect(details).toMatchObject([
      { kind: 'failed', reason: 'network', detail: 'ECONNREFUSED' },
      { kind: 'failed', reason: 'network', detail: ONLY_HTTP1 },
      { kind: 'failed', reason: 'network', detail: ONLY_HTTP1 },
      {
        kind: 'failed',
        reason: 'network',
        detail: 'ERR_TLS_CERT_ALTNAME_INVALID',
      },
    ]);
    for (const socket of sockets) socket.destroy();
    const closed = servers.map((each) => new Promise((done) => each.close(done)));
    await within('both servers to close', Promise.all(closed));
  });
});
