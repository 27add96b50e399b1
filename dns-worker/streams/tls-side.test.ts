import { once } from 'node:events';
import { connect as connectTcp, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Counter } from '../../shared/memory/counters.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { TestAuthority } from '../../test/support/dns/certificates.ts';
import type { TestCertificate } from '../../test/support/dns/certificates.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { DOT_PROTOCOLS } from './tcp.ts';
import { TlsSide } from './tls-side.ts';

const NAME = 'dns.example.org';
const CLIENT = addressFromText('192.0.2.1')!;
/** A ClientHello that offers TLS 1.3 and features that every library supports. */
const CLIENT_HELLO = await clientHello();
const TICKET_KEYS = new Uint8Array(48).fill(7);

let authority: TestAuthority;
let certificate: TestCertificate;
let server: Server;
let tls: TlsSide;
let counts: Map<number, number>;
let accepted: Socket[];
/** The method to test: without or with reading the server name. */
let enter: 'secure' | 'secureNamed';

beforeAll(() => {
  authority = new TestAuthority();
  certificate = authority.issue(`DNS:${NAME}`);
});
afterAll(() => authority.close());

beforeEach(async () => {
  counts = new Map();
  accepted = [];
  enter = 'secure';
  tls = sideOf();
  server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    socket.on('error', () => undefined);
    const take = (secured: TLSSocket): void => {
      secured.on('error', () => undefined);
      secured.write('hello');
    };
    if (enter === 'secure') tls.secure(socket, CLIENT, take);
    else tls.secureNamed(socket, CLIENT, { mayHandshake: () => true, take });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of accepted) socket.destroy();
  server.close();
});

function sideOf(timeoutMs?: number): TlsSide {
  // Connections of the previous test may end only now.
  const own = counts;
  const reporter = { count: (counter: number) => void own.set(counter, (own.get(counter) ?? 0) + 1) };
  const side = new TlsSide(DOT_PROTOCOLS, reporter, timeoutMs);
  side.use({ ...certificate, ticketKeys: TICKET_KEYS });
  return side;
}

/** The first bytes that a client sends in a handshake. */
async function clientHello(): Promise<Buffer> {
  const listening = createServer().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const socket = connect((listening.address() as AddressInfo).port, '127.0.0.1', { ALPNProtocols: ['dot'] });
  socket.on('error', () => undefined);
  const [taken] = (await within('the connection', once(listening, 'connection'))) as [Socket];
  const [octets] = (await within('the ClientHello', once(taken, 'data'))) as [Buffer];
  socket.destroy();
  taken.destroy();
  listening.close();
  return octets;
}

const count = (counter: number): number => counts.get(counter) ?? 0;
const port = (): number => (server.address() as AddressInfo).port;

function client(options: ConnectionOptions = {}): TLSSocket {
  const socket = connect({
    ...{ port: port(), host: '127.0.0.1', ca: authority.cert, servername: NAME },
    ...options,
  });
  socket.on('error', () => undefined);
  return socket;
}

/** Resolves at the end of a connection, with an error or without. */
function closeOf(socket: Socket): Promise<unknown> {
  return within('the connection to close', new Promise((resolve) => socket.once('close', resolve)));
}

/** The session of a server, once its first bytes have arrived. */
async function sessionOf(options: ConnectionOptions): Promise<Buffer> {
  const socket = client(options);
  const [session] = (await within('the ticket', once(socket, 'session'))) as [Buffer];
  socket.destroy();
  return session;
}

describe('TlsSide, the TLS settings shared by workers,', () => {
  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'accepts a session ticket issued by another worker (%s)',
    async (version) => {
      const options = { minVersion: version, maxVersion: version };
      const session = await sessionOf(options);
      tls = sideOf();
      const socket = client({ ...options, session });
      await within('the greeting', once(socket, 'data'));
      expect(socket.isSessionReused()).toBe(true);
      socket.destroy();
    },
  );

  test('rejects a session ticket encrypted with the previous key', async () => {
    const session = await sessionOf({});
    tls.use({ ...certificate, ticketKeys: TICKET_KEYS.map((octet) => octet + 1) });
    const socket = client({ session });
    await within('the greeting', once(socket, 'data'));
    expect(socket.isSessionReused()).toBe(false);
    socket.destroy();
  });

  test('uses the new certificate for new connections, and keeps existing connections open', async () => {
    const before = client();
    await within('the greeting', once(before, 'data'));
    const next = authority.issue(`DNS:${NAME},DNS:next.example.org`);
    tls.use({ ...next, ticketKeys: TICKET_KEYS });
    const after = client();
    await within('the greeting', once(after, 'data'));
    expect(after.getPeerCertificate().subjectaltname).toContain('next.example.org');
    expect([before.destroyed, before.getPeerCertificate().subjectaltname]).toEqual([false, `DNS:${NAME}`]);
    for (const socket of [before, after]) socket.destroy();
  });

  test('rejects TLS versions before 1.2', async () => {
    const socket = client({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
    await closeOf(socket);
    expect([socket.authorized, count(Counter.TLS_HANDSHAKES_FAILED)]).toEqual([false, 1]);
  });

  test.each([
    ['another protocol', 'GET / HTTP/1.1\r\n\r\n'],
    ['a broken ClientHello', Buffer.from('16030100050100000100', 'hex')],
  ])('closes a connection that uses %s, and counts it', async (_what, bytes) => {
    const socket = connectTcp(port(), '127.0.0.1').resume();
    socket.on('error', () => undefined);
    socket.write(bytes);
    await closeOf(socket);
    await until(
      'the server to close every connection',
      () => accepted.map(({ destroyed }) => destroyed),
      (all) => all.every(Boolean),
    );
    expect(count(Counter.TLS_HANDSHAKES_FAILED)).toBe(1);
  });

  test('limits the handshakes of one network to its share per second', async () => {
    const sockets = Array.from({ length: 100 }, () => connectTcp(port(), '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined);
    await until(
      'every connection to be accepted',
      () => accepted.length,
      (count) => count === sockets.length,
    );
    // A new second may begin between the connections.
    expect(count(Counter.STREAMS_REFUSED)).toBeGreaterThan(0);
    expect(count(Counter.TLS_HANDSHAKES) + count(Counter.STREAMS_REFUSED)).toBe(sockets.length);
    for (const socket of sockets) socket.destroy();
  });

  test.each([
    ['says nothing', Buffer.alloc(0)],
    ['sends a part of a ClientHello', Buffer.from('160301020001', 'hex')],
    ['stops after its ClientHello', CLIENT_HELLO],
  ])('closes a connection that %s within the handshake timeout, and counts it', async (_what, bytes) => {
    tls = sideOf(50);
    for (const entrance of ['secure', 'secureNamed'] as const) {
      counts.clear();
      enter = entrance;
      const socket = connectTcp(port(), '127.0.0.1').resume();
      socket.on('error', () => undefined);
      socket.write(bytes);
      await closeOf(socket);
      await until(
        'the server to close every connection',
        () => accepted.map(({ destroyed }) => destroyed),
        (all) => all.every(Boolean),
      );
      expect([count(Counter.TLS_HANDSHAKES), count(Counter.TLS_HANDSHAKES_FAILED)]).toEqual([1, 1]);
    }
  });

  test('closes new connections while there is no certificate', async () => {
    tls = new TlsSide(DOT_PROTOCOLS, { count: () => undefined });
    await closeOf(client());
  });
});
