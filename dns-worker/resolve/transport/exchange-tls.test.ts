import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { createServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../shared/clock.ts';
import { FrameReader, frame } from '../../../shared/dns/framing.ts';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import type { TestCertificate } from '../../../test/support/dns/certificates.ts';
import { a, idOf, question, questionOf, response } from '../../../test/support/dns/built-messages.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import type { ExchangeOutcome, ServerAddress } from './exchange.ts';
import { StreamUpstream } from './exchange-tcp.ts';
import { dotStream } from './tls-stream.ts';

const HOST = 'dns.example.org';
const WWW = question('www.example.org', 'A');

let authority: TestAuthority;
let good: TestCertificate;
const cleanups: (() => unknown)[] = [];

beforeAll(() => {
  authority = new TestAuthority();
  good = authority.issue(`DNS:${HOST},IP:127.0.0.1`);
});

afterAll(() => authority.close());

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface DotServer {
  readonly address: ServerAddress;
  readonly queries: Uint8Array[];
  readonly connections: TLSSocket[];
}

/** Answers every query over TLS. */
async function serve(certificate: TestCertificate, options: TlsOptions = {}): Promise<DotServer> {
  const queries: Uint8Array[] = [];
  const connections: TLSSocket[] = [];
  const server = createServer({ cert: certificate.cert, key: certificate.key, ...options }, (socket) => {
    connections.push(socket);
    socket.on('error', () => undefined);
    const frames = new FrameReader((message) => {
      queries.push(message.slice());
      const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.1')];
      socket.write(frame(response(questionOf(message), { id: idOf(message), answers })));
      return true;
    });
    socket.on('data', (chunk: Buffer) => frames.push(chunk));
  });
  server.on('tlsClientError', () => undefined);
  const address = await listen(server);
  return { address, queries, connections };
}

async function listen(server: ReturnType<typeof createTcpServer>): Promise<ServerAddress> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return within('the server to close', new Promise((done) => server.close(done)));
  });
  return { ip: '127.0.0.1', port: (server.address() as AddressInfo).port, family: 4 };
}

function streamTo(address: ServerAddress, host = HOST, trusted = true): StreamUpstream {
  const stream = new StreamUpstream(address, dotStream(host, trusted ? [authority.cert] : []), systemClock);
  cleanups.push(() => stream.close());
  return stream;
}

function ask(stream: StreamUpstream): Promise<ExchangeOutcome> {
  return within('the outcome', new Promise((resolve) => void stream.ask(WWW, resolve)));
}

describe('dotStream (DNS over TLS)', () => {
  test('queries over TLS 1.3 on one connection, padded to 128 bytes (RFC 8467)', async () => {
    const server = await serve(good);
    const stream = streamTo(server.address);
    for (let i = 0; i < 3; i++) expect((await ask(stream)).kind).toBe('answer');
    expect(server.connections.map((socket) => socket.getProtocol())).toEqual(['TLSv1.3']);
    expect(server.queries.map(({ length }) => length)).toEqual([128, 128, 128]);
  });

  test('sends the queries of one turn of the event loop in one TLS record', async () => {
    const server = await serve(good);
    const stream = streamTo(server.address);
    await ask(stream);
    // Node emits a separate event for each record.
    const records: number[] = [];
    server.connections[0]!.on('data', (record: Buffer) => records.push(record.length));
    await Promise.all(Array.from({ length: 20 }, () => ask(stream)));
    expect(records).toEqual([20 * (2 + 128)]);
  });

  test('queries a server that supports only TLS 1.2, but no server with older versions', async () => {
    const older = await serve(good, { maxVersion: 'TLSv1.2' });
    expect((await ask(streamTo(older.address))).kind).toBe('answer');
    const ancient = await serve(good, {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    expect(await ask(streamTo(ancient.address))).toMatchObject({ kind: 'failed', reason: 'network' });
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'resumes the TLS session of the previous connection (%s)',
    async (version) => {
      const server = await serve(good, { minVersion: version, maxVersion: version });
      const stream = streamTo(server.address);
      await ask(stream);
      const [first] = server.connections;
      const ended = once(first!, 'close');
      first!.end();
      await within('the connection to close', ended);
      expect((await ask(stream)).kind).toBe('answer');
      const [resumedBefore, resumedNow] = server.connections.map((socket) => socket.isSessionReused());
      expect(resumedBefore).toBeFalsy();
      expect(resumedNow).toBe(true);
    },
  );

  test('checks the certificate against the IP address if the server has no name', async () => {
    const server = await serve(good);
    expect((await ask(streamTo(server.address, '127.0.0.1'))).kind).toBe('answer');
  });

  test.each<[string, () => TestCertificate, boolean, string]>([
    [
      'for another name',
      () => authority.issue('DNS:other.example.org'),
      true,
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    ['that has expired', () => authority.issue(`DNS:${HOST}`, true), true, 'CERT_HAS_EXPIRED'],
    ['of an authority that is not trusted', () => good, false, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ])('sends no query to a server with a certificate %s', async (_what, certificate, trusted, detail) => {
    const server = await serve(certificate());
    expect(await ask(streamTo(server.address, HOST, trusted))).toEqual({
      kind: 'failed',
      reason: 'network',
      detail,
    });
    expect(server.queries).toHaveLength(0);
  });

  test('gives up a server that does not complete the handshake, and uses a new connection the next time', async () => {
    const silent: Socket[] = [];
    const address = await listen(createTcpServer((socket) => silent.push(socket)));
    const stream = streamTo(address);
    let connections = 0;
    while (connections < 2) {
      const exchange = stream.ask(WWW, () => undefined);
      connections = await until(
        'the next connection',
        () => silent.length,
        (count) => count > connections,
      );
      exchange.cancel();
    }
    for (const socket of silent) socket.resume();
    await until(
      'both connections to close',
      () => silent.map(({ destroyed }) => destroyed),
      (all) => all.every(Boolean),
    );
    expect(silent).toHaveLength(2);
  });

  test('fails if the server does not speak TLS, or closes the connection in the handshake', async () => {
    const chatty = await listen(createTcpServer((socket) => socket.end('220 ready\r\n')));
    expect(await ask(streamTo(chatty))).toMatchObject({ kind: 'failed', reason: 'network' });
    const rude = await listen(createTcpServer((socket) => socket.resetAndDestroy()));
    expect(await ask(streamTo(rude))).toMatchObject({ kind: 'failed', reason: 'network' });
  });
});
