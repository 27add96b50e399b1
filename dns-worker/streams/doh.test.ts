import { once } from 'node:events';
import { request } from 'node:https';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createConnectionTable } from '../../shared/memory/connection-table.ts';
import { networkFromText } from '../../shared/net/cidr.ts';
import { addressToText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import { TestAuthority } from '../../test/support/dns/certificates.ts';
import { query } from '../../test/support/dns/dns-message.ts';
import { DohClient, dohPath } from '../../test/support/dns/doh-client.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { ConnectionLimit } from './connection-limit.ts';
import type { StreamClient } from './stream-connection.ts';
import { DOH_PROTOCOLS, listenDoh } from './doh.ts';
import { MAX_DOH_QUERY_SIZE } from '../../shared/dns/doh-target.ts';
import { MAX_QUERIES_IN_FLIGHT } from './stream-connection.ts';
import type { StreamPort } from './stream-port.ts';
import { TlsSide } from './tls-side.ts';

const NAME = 'dns.example.org';
const MESSAGE = query('www.example.org', 'A', { id: 0 });

let authority: TestAuthority;
let tls: TlsSide;
let listener: StreamPort;
const clients: DohClient[] = [];
/** Requests that the handler has accepted but not answered. */
let held: StreamClient[] = [];

beforeAll(() => {
  authority = new TestAuthority();
  const { cert, key } = authority.issue(`DNS:${NAME}`);
  tls = new TlsSide(DOH_PROTOCOLS, { count: () => undefined });
  tls.use({ cert, key, ticketKeys: new Uint8Array(48) });
});
afterAll(() => authority.close());
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  held = [];
  await listener.close();
});

interface Options {
  readonly maxPerAddress?: number;
  readonly idleTimeoutMs?: number;
  readonly trusted?: readonly string[];
}

/** Listens and returns a client; the handler echoes the message, or keeps it if `isHeld` is true. */
async function open(isHeld = false, options: Options = {}): Promise<DohClient> {
  const { maxPerAddress = 0, idleTimeoutMs = 10_000, trusted = [] } = options;
  const table = createConnectionTable(1, 7);
  const limit = new ConnectionLimit({ table, worker: 0, protocol: Protocol.doh, maxPerAddress, max: 100 });
  listener = await listenDoh(
    {
      ...{ addresses: ['127.0.0.1'], port: 0, limit, tls, idleTimeoutMs },
      trustedProxies: trusted.map((text) => networkFromText(text)!),
      admission: {
        senders: new ProxySenders(null),
        mayConnect: () => true,
        reporter: { count: () => undefined },
        logger: new MemoryLogger(),
      },
    },
    (message, asker) => {
      if (isHeld) held.push(asker);
      else asker.send(message);
    },
  );
  return client();
}

const port = (): number => listener.addresses[0]!.port;

function client(): DohClient {
  const opened = new DohClient(port(), authority.cert, NAME);
  clients.push(opened);
  return opened;
}

/** Relays between a client and a TLS server on `target`, and counts the records of the server. */
async function startRecordCounter(target: number) {
  let count = 0;
  let rest = Buffer.alloc(0);
  const proxy = createServer((socket) => {
    const server = connect(target, '127.0.0.1');
    server.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      // Header of a TLS record (RFC 8446 section 5.1): type, version, length (u16).
      while (rest.length >= 5 && rest.length >= 5 + rest.readUInt16BE(3)) {
        rest = rest.subarray(5 + rest.readUInt16BE(3));
        count++;
      }
    });
    socket
      .on('error', () => undefined)
      .pipe(server.on('error', () => undefined))
      .pipe(socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return { port, records: () => count, close: () => proxy.close() };
}

/** Resolves at the end of a connection, with an error or without. */
function closeOf({ session }: DohClient): Promise<unknown> {
  return within('the connection to close', new Promise((resolve) => session.once('close', resolve)));
}

/** Waits until `count` queries are held. */
function untilHeld(count: number): Promise<unknown> {
  return until(
    `query ${String(count)}`,
    () => held.length,
    (now) => now === count,
  );
}

describe('listenDoh(), a DNS over HTTPS listener,', () => {
  test('asks HTTP/1.1 and HTTP/2 clients to reconnect when it shuts down, and still answers their queries', async () => {
    const asked = await open();
    await asked.get(MESSAGE);
    const http1 = connectTls({
      port: port(),
      ca: authority.cert,
      servername: NAME,
      ALPNProtocols: ['http/1.1'],
    });
    await within('the TLS handshake', once(http1, 'secureConnect'));
    const post = Buffer.concat([
      Buffer.from(`POST /dns-query HTTP/1.1\r\nhost: ${NAME}\r\ncontent-type: application/dns-message\r\n`),
      Buffer.from(`content-length: ${String(MESSAGE.length)}\r\n\r\n`),
      MESSAGE,
    ]);
    http1.write(post);
    expect(String((await within('the first answer', once(http1, 'data')))[0])).not.toMatch(
      /^connection: close/im,
    );
    const askedToEnd = once(asked.session, 'goaway') as Promise<[number, number]>;
    const closing = listener.close(true);
    const [code, lastStream] = await within('GOAWAY', askedToEnd);
    expect([code, lastStream]).toEqual([0, 2 ** 31 - 1]);
    http1.write(post);
    expect(String((await within('the second answer', once(http1, 'data')))[0])).toMatch(
      /^HTTP\/1.1 200 [^]*^connection: close/im,
    );
    await within('the listener to close', closing);
  });

  test('receives queries and sends answers, by GET and by POST', async () => {
    const asked = await open();
    for (const reply of [await asked.get(MESSAGE), await asked.post(MESSAGE)]) {
      expect([reply.status, Buffer.compare(reply.body, MESSAGE)]).toEqual([200, 0]);
      expect(reply.headers).toMatchObject({
        'content-type': 'application/dns-message',
        'content-length': String(MESSAGE.length),
        'cache-control': 'private, max-age=0',
      });
    }
  });

  test.each([
    [400, { ':path': '/dns-query' }, undefined],
    [404, { ':path': '/' }, undefined],
    [405, { ':path': '/dns-query', ':method': 'DELETE' }, undefined],
    [415, { ':path': '/dns-query', ':method': 'POST' }, MESSAGE],
  ])('answers with status %i to a request without a DNS query', async (status, headers, body) => {
    const asked = await open();
    expect((await asked.request(headers, body)).status).toBe(status);
    // The next request uses the same connection.
    expect((await asked.get(MESSAGE)).status).toBe(200);
  });

  test.each([
    { agent: 'dnsperf/2.10.0 (nghttp2/1.52.0)', records: 5 },
    { agent: 'curl/8.14.1', records: 1 },
  ])(
    'sends 5 answers of one turn of the event loop to $agent in TLS records: $records',
    async ({ agent, records }) => {
      await open(true);
      const proxy = await startRecordCounter(port());
      const asked = new DohClient(proxy.port, authority.cert, NAME);
      clients.push(asked);
      const answers = Array.from({ length: 5 }, () =>
        asked.request({ ':path': dohPath(MESSAGE), 'user-agent': agent }),
      );
      await untilHeld(5);
      // Earlier records have been counted when the pong arrives.
      await within('the pong', promisify(asked.session.ping.bind(asked.session))());
      const before = proxy.records();
      for (const query of held) query.send(MESSAGE);
      const bodies = (await Promise.all(answers)).map(({ body }) => body);
      expect(bodies).toEqual(Array.from({ length: 5 }, () => Buffer.from(MESSAGE)));
      expect(proxy.records() - before).toBe(records);
      proxy.close();
    },
  );

  test('answers 400 to a message without a DNS header, and 413 to a message that is too long', async () => {
    const asked = await open();
    expect((await asked.post(new Uint8Array(11))).status).toBe(400);
    expect((await asked.post(new Uint8Array(0))).status).toBe(400);
    expect((await asked.post(new Uint8Array(MAX_DOH_QUERY_SIZE + 1))).status).toBe(413);
    expect((await asked.post(new Uint8Array(MAX_DOH_QUERY_SIZE))).status).toBe(200);
  });

  test('answers 400 to a message that gets no DNS reply', async () => {
    const asked = await open(true);
    const reply = asked.get(MESSAGE);
    await untilHeld(1);
    held[0]!.drop();
    expect((await reply).status).toBe(400);
  });

  test('answers in any order, even after the client has closed its half of the stream', async () => {
    const asked = await open(true);
    const replies = [asked.get(MESSAGE), asked.post(MESSAGE)];
    await untilHeld(2);
    for (const each of held.toReversed()) each.send(MESSAGE);
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('counts streams that the client has reset until their query is answered (CVE-2023-44487)', async () => {
    const asked = await open(true);
    for (let i = 0; i < MAX_QUERIES_IN_FLIGHT; i++) {
      const stream = asked.open({ ':path': dohPath(MESSAGE) });
      await untilHeld(i + 1);
      stream.close(8);
    }
    expect((await asked.get(MESSAGE)).status).toBe(429);
    held[0]!.send(MESSAGE);
    const reply = asked.get(MESSAGE);
    await untilHeld(MAX_QUERIES_IN_FLIGHT + 1);
    held.at(-1)!.send(MESSAGE);
    expect((await reply).status).toBe(200);
  });

  test('closes a connection that resets streams repeatedly (CVE-2023-44487)', async () => {
    const asked = await open();
    const closed = closeOf(asked);
    const reset = (): void => {
      for (let i = 0; i < 50 && !asked.session.closed && !asked.session.destroyed; i++) {
        const stream = asked.open({ ':path': '/dns-query', ':method': 'POST' });
        stream.on('error', () => undefined);
        stream.close(8);
      }
      if (!asked.session.destroyed) setImmediate(reset);
    };
    await within('the session', once(asked.session, 'connect'));
    reset();
    await closed;
    expect((await client().get(MESSAGE)).status).toBe(200);
  });

  test('does not buffer an endless body', async () => {
    const asked = await open(false, { idleTimeoutMs: 200 });
    const closed = closeOf(asked);
    const stream = asked.open({
      ...{ ':path': '/dns-query', ':method': 'POST' },
      'content-type': 'application/dns-message',
    });
    stream.on('error', () => undefined);
    await closed;
  });

  test('accepts no more connections from an address than its limit', async () => {
    const asked = await open(false, { maxPerAddress: 1 });
    await asked.get(MESSAGE);
    await closeOf(client());
    asked.close();
    const asking = (): Promise<unknown> =>
      client()
        .get(MESSAGE)
        .then(
          ({ status }) => status,
          (error: unknown) => error,
        );
    await until('a free place', asking, (outcome) => outcome === 200);
  });

  test('accepts X-Forwarded-For from trusted proxies only', async () => {
    const trusting = await open(true, { trusted: ['127.0.0.0/8'] });
    void trusting.post(MESSAGE, { 'x-forwarded-for': '198.51.100.7' }).catch(() => undefined);
    await untilHeld(1);
    expect(addressToText(held[0]!.address)).toBe('198.51.100.7');
    held[0]!.send(MESSAGE);
    await listener.close();
    held = [];
    const wary = await open(true);
    void wary.post(MESSAGE, { 'x-forwarded-for': '198.51.100.7' }).catch(() => undefined);
    await untilHeld(1);
    expect(addressToText(held[0]!.address)).toBe('127.0.0.1');
  });

  test('rejects clients that offer only other protocols (RFC 7301 section 3.2)', async () => {
    await open();
    const options = { port: port(), host: '127.0.0.1', ca: authority.cert, servername: NAME };
    const socket = connectTls({ ...options, ALPNProtocols: ['dot'] });
    const [error] = (await within('the refusal', once(socket, 'error'))) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
  });

  test('supports HTTP/1.1, and closes the connection after a request whose body was not read', async () => {
    await open();
    const options = { port: port(), host: '127.0.0.1', ca: authority.cert, servername: NAME, agent: false };
    const asked = request({
      ...options,
      method: 'POST',
      path: '/nowhere',
      headers: { 'content-length': 9000 },
    });
    asked.on('error', () => undefined);
    asked.write('x');
    const [response] = (await within('the response', once(asked, 'response'))) as [
      { statusCode: number; headers: object },
    ];
    expect(response).toMatchObject({ statusCode: 404, headers: { connection: 'close' } });
    asked.destroy();
  });

  test('keeps an HTTP/1.1 connection open after a request without a body that is answered at once', async () => {
    await open();
    const socket = connectTls({
      ...{ port: port(), host: '127.0.0.1', ca: authority.cert, servername: NAME },
      ALPNProtocols: ['http/1.1'],
    });
    for (let i = 0; i < 2; i++) {
      socket.write(`GET /nowhere HTTP/1.1\r\nhost: ${NAME}\r\n\r\n`);
      const [answer] = (await within('the response', once(socket, 'data'))) as [Buffer];
      expect(String(answer)).toMatch(/^HTTP\/1.1 404 /);
      expect(String(answer)).not.toMatch(/^connection: close/im);
    }
    socket.destroy();
  });

  test('close() answers queries in flight, then closes every connection', async () => {
    const asked = await open(true);
    const reply = asked.get(MESSAGE);
    await untilHeld(1);
    const closing = listener.close();
    held[0]!.send(MESSAGE);
    expect((await reply).status).toBe(200);
    await within('the listener to close', closing);
  });
});
