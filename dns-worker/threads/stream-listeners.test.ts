import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { get, Agent } from 'node:https';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FrameReader, frame } from '../../shared/dns/framing.ts';
import { TestAuthority } from '../../test/support/dns/certificates.ts';
import { query, Reply } from '../../test/support/dns/dns-message.ts';
import { answers } from '../../test/support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { RunningWorker } from '../../test/support/parts/running-worker.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { closeOf } from '../../test/support/weir/socket-ends.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const ADS = snapshotOf([{ text: '||ads.example^', reading: BLOCK }], {}, 1);
const NAME = 'dns.example.org';

let authority: TestAuthority;
let upstream: ScriptedUpstream;
let worker: RunningWorker;
let [dotPort, dohPort] = [0, 0];

beforeAll(async () => {
  authority = new TestAuthority();
  upstream = await ScriptedUpstream.start();
  upstream.udpScript = answers(7);
  [dotPort, dohPort] = [await freePort(['127.0.0.1']), await freePort(['127.0.0.1'])];
  const { cert, key } = authority.issue(`DNS:${NAME}`);
  worker = await RunningWorker.start(ADS, {
    upstream,
    settings: { dotPort, dohPort },
    certificate: { cert, key, ticketKeys: new Uint8Array(48).fill(1) },
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  authority.close();
});

const trust = () => ({ ca: authority.cert, servername: NAME, host: '127.0.0.1' });
const ask = (name: string): Uint8Array => query(name, 'A', { id: 7 });
const data = (bytes: Uint8Array): readonly unknown[] => new Reply(bytes, '').data;

async function openTls(more: object = {}, underneath?: Socket): Promise<TLSSocket> {
  const socket = connectTls({
    ...trust(),
    port: dotPort,
    ALPNProtocols: ['dot'],
    socket: underneath,
    ...more,
  });
  await within('the TLS handshake', once(socket, 'secureConnect'));
  return socket;
}

/** Sends framed messages and resolves with this many replies. */
async function exchange(socket: Socket, messages: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const received: Uint8Array[] = [];
  const frames = new FrameReader((message) => {
    received.push(message.slice());
    return true;
  });
  socket.write(Buffer.concat(messages.map((message) => frame(message))));
  socket.on('data', (chunk: Buffer) => frames.push(chunk));
  await until(
    `${String(messages.length)} replies`,
    () => received.length,
    (count) => count >= messages.length,
  );
  return received;
}

describe('DNS over TLS', () => {
  test('answers pipelined queries by policy and from upstreams (RFC 7858)', async () => {
    const socket = await openTls();
    expect(socket.alpnProtocol).toBe('dot');
    const replies = await exchange(socket, [ask('www.example'), ask('x.ads.example')]);
    expect(replies.map(data).toSorted()).toEqual([['0.0.0.0'], ['192.0.2.7']]);
    socket.destroy();
  });
});

interface DohReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function overHttp2(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body?: Uint8Array,
): Promise<DohReply> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [answered] = (await within('the head of the answer', once(stream, 'response'))) as [
    IncomingHttpHeaders & { ':status': number },
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return { status: answered[':status'], headers: answered, body: Buffer.concat(chunks) };
}

function getPath(name: string): string {
  return `/dns-query?dns=${Buffer.from(ask(name)).toString('base64url')}`;
}

describe('DNS over HTTPS', () => {
  test('answers GET and POST over HTTP/2 (RFC 8484)', async () => {
    const session = connectHttp2(`https://127.0.0.1:${dohPort}`, { ca: authority.cert, servername: NAME });
    const got = await overHttp2(session, { ':path': getPath('www.example') });
    expect(got).toMatchObject({ status: 200, headers: { 'content-type': 'application/dns-message' } });
    expect(data(got.body)).toEqual(['192.0.2.7']);
    expect(got.headers['cache-control']).toMatch(/^private, max-age=[1-9]\d*$/);
    const type = { ':path': '/dns-query', ':method': 'POST', 'content-type': 'application/dns-message' };
    expect(data((await overHttp2(session, type, ask('x.ads.example'))).body)).toEqual(['0.0.0.0']);
    session.close();
  });

  test('answers several requests over HTTP/1.1 on one connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const [name, expected] of [
      ['www.example', '192.0.2.7'],
      ['x.ads.example', '0.0.0.0'],
    ] as const) {
      const request = get({ ...trust(), port: dohPort, path: getPath(name), agent });
      const [response] = (await within('the response', once(request, 'response'))) as [
        NodeJS.ReadableStream & { statusCode: number },
      ];
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      expect([response.statusCode, data(Buffer.concat(chunks))]).toEqual([200, [expected]]);
    }
    agent.destroy();
  });
});

/** A header of PROXY protocol v2 that names 192.0.2.99. */
const PROXY_HEADER = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000263c633640112340035', 'hex');

describe('the PROXY protocol for DNS over TCP and TLS', () => {
  let proxied: RunningWorker;
  let ports: { dns: number; dot: number; doh: number };
  /** Nothing is blocked for 192.0.2.99; for all other clients, a list of their group blocks the name. */
  beforeAll(async () => {
    ports = {
      dns: await freePort(['127.0.0.1']),
      dot: await freePort(['127.0.0.1']),
      doh: await freePort(['127.0.0.1']),
    };
    const { cert, key } = authority.issue(`DNS:${NAME}`);
    proxied = await RunningWorker.start(ADS, {
      upstream,
      settings: { dnsPort: ports.dns, dotPort: ports.dot, dohPort: ports.doh, proxyProtocol: ['127.0.0.1'] },
      certificate: { cert, key, ticketKeys: new Uint8Array(48).fill(1) },
    });
  });
  afterAll(() => proxied[Symbol.asyncDispose]());

  async function openTcp(port: number): Promise<Socket> {
    const socket = connectTcp({ port, host: '127.0.0.1', noDelay: true });
    await within('the connection', once(socket, 'connect'));
    return socket;
  }

  test('accepts a header in one segment with the query, and a header that arrives byte by byte', async () => {
    const whole = await openTcp(ports.dns);
    whole.write(PROXY_HEADER);
    expect(await exchange(whole, [ask('x.ads.example')])).toHaveLength(1);
    const dripped = await openTcp(ports.dns);
    for (const octet of PROXY_HEADER) dripped.write(Uint8Array.of(octet));
    expect(await exchange(dripped, [ask('x.ads.example')])).toHaveLength(1);
    for (const socket of [whole, dripped]) socket.destroy();
  });

  test('accepts a header before the TLS handshake, in one segment with the ClientHello', async () => {
    for (const port of [ports.dot, ports.doh]) {
      const raw = await openTcp(port);
      raw.cork();
      raw.write(PROXY_HEADER);
      const secured = openTls({ ALPNProtocols: port === ports.dot ? ['dot'] : ['http/1.1'] }, raw);
      raw.uncork();
      const socket = await secured;
      if (port === ports.dot) expect(await exchange(socket, [ask('x.ads.example')])).toHaveLength(1);
      else {
        socket.write(`GET ${getPath('x.ads.example')} HTTP/1.1\r\nhost: ${NAME}\r\n\r\n`);
        const [chunk] = (await within('the response', once(socket, 'data'))) as [Buffer];
        expect(chunk.toString('latin1')).toMatch(/^HTTP\/1.1 200 OK/);
      }
      socket.destroy();
    }
  });

  test.each([
    ['no header', frame(ask('x.ads.example'))],
    ['version 1', Buffer.from('PROXY TCP4 192.0.2.99 198.51.100.1 4660 53\r\n')],
    ['a broken header', Buffer.concat([PROXY_HEADER.subarray(0, 12), Buffer.from('ff', 'hex')])],
  ])('closes a connection with %s', async (_what, bytes) => {
    const socket = await openTcp(ports.dns);
    socket.write(bytes);
    await closeOf(socket);
  });
});
