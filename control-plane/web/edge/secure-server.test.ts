import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import express from 'express';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { closeOf } from '../../../test/support/weir/socket-ends.ts';
import { loadDescriptorCalls } from '../../node/upgrade/descriptor-calls.ts';
import type { CertificatePair } from '../tls/certificate-pair.ts';
import { makeSelfSigned } from '../tls/self-signed.ts';
import { checkHost } from './host-check.ts';
import { redirectToHttps } from './https-redirect.ts';
import type { CertificateSource } from './secure-server.ts';
import { startWebServer } from './server.ts';
import type { WebServer } from './server.ts';

const F_DUPFD_CLOEXEC = 1030;

/** A certificate that a test replaces. */
class SteeredCertificate implements CertificateSource {
  private pair: CertificatePair;
  private readonly listeners = new Set<(pair: CertificatePair) => void>();

  constructor(pair: CertificatePair) {
    this.pair = pair;
  }

  current(): CertificatePair {
    return this.pair;
  }

  onChange(listener: (pair: CertificatePair) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  replace(pair: CertificatePair): void {
    this.pair = pair;
    for (const listener of this.listeners) listener(pair);
  }

  get listening(): number {
    return this.listeners.size;
  }
}

let first: CertificatePair;
let second: CertificatePair;
let certificate: SteeredCertificate;
/** Keys of session tickets, and the listener for new keys. */
let keys: Uint8Array;
let useKeys: () => void;
let web: WebServer;
let port: number;
let sockets: Socket[];

beforeAll(async () => {
  first = await makeSelfSigned(['localhost', '127.0.0.1'], Date.now());
  second = await makeSelfSigned(['second.test', 'localhost', '127.0.0.1'], Date.now());
});

beforeEach(async () => {
  sockets = [];
  certificate = new SteeredCertificate(first);
  keys = Buffer.alloc(48, 1);
  await listen();
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await web.close();
});

async function listen(toml = '', headMs = 10_000): Promise<void> {
  const config = testConfig(toml);
  const app = express();
  const { trusted_proxies: proxies, allowed_hosts: allowedHosts } = config.server;
  app.set('trust proxy', proxies.length === 0 ? false : [...proxies]);
  app.use(checkHost({ nodeName: 'node-a', allowedHosts: () => allowedHosts }));
  app.use(redirectToHttps);
  app.get('/', (request, response) => void response.send(`served ${request.protocol}`));
  app.post('/', async (request, response) => void response.send(`${(await text(request)).length}`));
  const deadlines = { headMs, requestMs: 30_000, idleMs: 10_000, silentMs: 120_000 };
  const ticketKeys = {
    current: () => keys,
    onChange: (listener: () => void) => {
      useKeys = listener;
      return () => undefined;
    },
  };
  web = await startWebServer(app, config, new MemoryLogger(), { certificate, ticketKeys, deadlines });
  port = web.endpoints[0]!.port;
}

async function restart(...options: Parameters<typeof listen>): Promise<void> {
  await web.close();
  await listen(...options);
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

async function answerTo(request: ReturnType<typeof httpRequest>, body?: string) {
  const answered = once(request, 'response');
  request.end(body);
  const [response] = (await within('the response', answered)) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

const overHttps = ({ body, ...sent }: Sent = {}, ca = certificate.current().cert) =>
  answerTo(httpsRequest({ host: '127.0.0.1', port, agent: false, ca, ...sent }), body);
const overHttp = ({ body, ...sent }: Sent = {}) =>
  answerTo(httpRequest({ host: '127.0.0.1', port, agent: false, ...sent }), body);

async function openTls(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: certificate.current().cert, ...options });
  sockets.push(socket);
  await within('the TLS handshake', once(socket, 'secureConnect'));
  return socket;
}

function openPlain(): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

describe('startWebServer() with a certificate', () => {
  test('serves HTTPS with TLS 1.2 and 1.3', async () => {
    expect(await overHttps()).toMatchObject({ status: 200, text: 'served https' });
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await openTls({ minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      expect(socket.authorized).toBe(true);
    }
  });

  test.each([
    ['TLS 1.1', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }],
    ['ciphers without forward secrecy', { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256:AES256-SHA' }],
  ] as const)('rejects %s', async (_, options) => {
    await expect(openTls(options)).rejects.toThrow(/alert|protocol|reset/i);
    expect((await overHttps()).status).toBe(200);
  });

  test('accepts several requests with bodies on one connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: first.cert });
    const ports = new Set<number | undefined>();
    for (let turn = 0; turn < 3; turn++) {
      const request = httpsRequest({ host: '127.0.0.1', port, agent, method: 'POST' });
      request.once('socket', (socket: Socket) => void ports.add(socket.localPort));
      const { text: length } = await answerTo(request, 'x'.repeat(200_000));
      expect(length).toBe('200000');
    }
    agent.destroy();
    expect(ports.size).toBe(1);
  });

  test('uses a new certificate for new connections, and keeps existing connections open', async () => {
    const open = await openTls();
    certificate.replace(second);
    const later = await openTls();
    expect(later.getPeerCertificate().subject.CN).toBe('second.test');
    expect(open.getPeerCertificate().subject.CN).toBe('localhost');
    open.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await text(open)).toContain('served https');
    expect((await overHttps({}, second.cert)).status).toBe(200);
    await expect(overHttps({}, first.cert)).rejects.toThrow(/self-signed/);
  });

  test('resumes sessions of a different process and certificate with the same ticket key, until the key changes', async () => {
    const open = await openTls({ maxVersion: 'TLSv1.2' });
    const session = open.getSession()!;
    await restart();
    const isReused = async (): Promise<boolean> =>
      (await openTls({ maxVersion: 'TLSv1.2', session })).isSessionReused();
    expect(await isReused()).toBe(true);
    certificate.replace(second);
    expect(await isReused()).toBe(true);
    keys = Buffer.alloc(48, 2);
    useKeys();
    expect(await isReused()).toBe(false);
  });

  test('uses the current certificate and later certificates after a pause', async () => {
    const native = loadDescriptorCalls();
    if ('reason' in native) throw new Error(native.reason);
    await web.pause((fd) => native.calls.fcntl(fd, F_DUPFD_CLOEXEC, 0));
    certificate.replace(second);
    web.resume();
    expect((await openTls()).getPeerCertificate().subject.CN).toBe('second.test');
    certificate.replace(first);
    expect((await openTls()).getPeerCertificate().subject.CN).toBe('localhost');
    expect(certificate.listening).toBe(1);
  });

  test('releases the certificate when the server is closed', async () => {
    expect(certificate.listening).toBe(1);
    await restart();
    expect(certificate.listening).toBe(1);
  });

  test('accepts a request that arrives byte by byte', async () => {
    const socket = openPlain();
    for (const octet of 'GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n') {
      socket.write(octet);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await text(socket)).toMatch(/^HTTP\/1.1 301 /);
  });

  test('answers input that is neither TLS nor HTTP with 400, and continues', async () => {
    for (const bytes of ['\u0000\u0001\u0002\r\n\r\n', 'SSH-2.0-x\r\n', '\u0080\u002e']) {
      const socket = openPlain();
      socket.write(Buffer.from(bytes, 'latin1'));
      socket.end();
      expect(await text(socket)).toMatch(/^(HTTP\/1.1 400 |$)/);
    }
    expect((await overHttps()).status).toBe(200);
  });

  test('survives connections that end in the middle of a handshake', async () => {
    const hello = Buffer.from('16030100f4010000f00303', 'hex');
    for (const end of ['end', 'destroy', 'resetAndDestroy'] as const)
      for (const length of [0, 1, hello.length]) {
        const socket = openPlain();
        await within('the connection', once(socket, 'connect'));
        if (length > 0) socket.write(hello.subarray(0, length));
        socket.resume();
        socket[end]();
      }
    expect((await overHttps()).status).toBe(200);
  });

  test('disconnects clients that are silent before the first byte, in the handshake or in the request header', async () => {
    await restart('', 1500);
    const cutOff = async (where: string, bytes: string): Promise<void> => {
      const socket = openPlain();
      await within('the connection', once(socket, 'connect'));
      if (bytes !== '') socket.write(Buffer.from(bytes, 'latin1'));
      await within(`a connection silent ${where} to be closed`, closeOf(socket.resume()));
    };
    await Promise.all([
      cutOff('before the first byte', ''),
      cutOff('in the handshake', '\u0016\u0003\u0001'),
      cutOff('in the head', 'G'),
    ]);
    expect((await overHttps()).status).toBe(200);
  });

  test('close() disconnects clients in the middle of a handshake', async () => {
    const waiting = [openPlain(), openPlain()];
    await within('both connections', Promise.all(waiting.map((socket) => once(socket, 'connect'))));
    waiting[1]!.write(Buffer.of(22, 3, 1));
    const ended = waiting.map((socket) => closeOf(socket.resume()));
    await overHttps();
    await web.close();
    await within('the connections to close', Promise.all(ended));
  });

  test('counts HTTPS connections against the connection limit of a network', async () => {
    const open = await Promise.all(Array.from({ length: 50 }, () => openTls()));
    await expect(overHttps()).rejects.toThrow();
    const closed = once(open[0]!, 'close');
    open[0]!.destroy();
    await within('the connection to close', closed);
    const asking = (): Promise<unknown> =>
      overHttps().then(
        ({ status }) => status,
        (error: unknown) => error,
      );
    await until('a free place', asking, (outcome) => typeof outcome === 'number');
  });
});

describe('redirectToHttps()', () => {
  const locationOf = async (sent: Sent): Promise<string | undefined> => {
    const { status, headers } = await overHttp(sent);
    return status === 301 ? headers.location : String(status);
  };

  test.each([
    ['localhost:8080', '/', 'https://localhost:8080/'],
    ['node-a:8080', '/a/b?c=d&e=%20f', 'https://node-a:8080/a/b?c=d&e=%20f'],
    ['192.0.2.53', '/', 'https://192.0.2.53:80/'],
    ['[2001:db8::53]:81', '/docs', 'https://[2001:db8::53]:81/docs'],
    ['LOCALHOST:443', '/', 'https://localhost/'],
    ['localhost:8080', '//evil.test/', 'https://localhost:8080//evil.test/'],
    ['localhost:8080', '/\\evil.test?<x>', 'https://localhost:8080/\\evil.test?%3Cx%3E'],
    ['localhost:8080', 'http://localhost:8080/x?y', 'https://localhost:8080/x?y'],
  ])('redirects a request to %s %s to %s', async (host, path, location) => {
    expect(await locationOf({ path, headers: { host } })).toBe(location);
  });

  test('redirects every method without reading the body', async () => {
    for (const method of ['POST', 'DELETE', 'HEAD', 'OPTIONS'])
      expect(await locationOf({ method, headers: { host: 'localhost:1' } })).toBe('https://localhost:1/');
  });

  test.each([['evil.test'], ['evil.test:8080'], ['localhost@evil.test'], ['localhost:8080.evil.test']])(
    'does not redirect to %s, which is not a host name of this server',
    async (host) => {
      const { status, headers } = await overHttp({ headers: { host } });
      expect(status).toBe(421);
      expect(headers.location).toBeUndefined();
    },
  );

  test('accepts host and protocol headers only from a trusted proxy', async () => {
    const forwarded = { 'x-forwarded-host': 'dns.test', 'x-forwarded-proto': 'http' };
    expect(await locationOf({ headers: { host: 'localhost:8', ...forwarded } })).toBe('https://localhost:8/');
    expect(await locationOf({ headers: { host: 'localhost:8', 'x-forwarded-proto': 'https' } })).toBe(
      'https://localhost:8/',
    );
    await restart('server.trusted_proxies = ["127.0.0.1/32"]\nserver.allowed_hosts = ["dns.test"]');
    expect(await locationOf({ headers: { host: 'localhost:8', ...forwarded } })).toBe('https://dns.test/');
    const secure = { ...forwarded, 'x-forwarded-proto': 'https' };
    expect(await overHttp({ headers: { host: 'localhost', ...secure } })).toMatchObject({
      text: 'served https',
    });
    const foreign = { ...forwarded, 'x-forwarded-host': 'evil.test' };
    expect(await locationOf({ headers: { host: 'localhost:8', ...foreign } })).toBe('421');
  });
});
