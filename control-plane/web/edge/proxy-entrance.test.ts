import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Express } from 'express';
import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import {
  checkedHeaderFor,
  headerFor,
  headerOf,
  LOCAL_HEADER,
  tlv,
} from '../../../test/support/parts/proxy-headers.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { isAnswered } from '../../../test/support/weir/socket-ends.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { clientAddress, isOnThisMachine } from '../../api/client-address.ts';
import type { CertificatePair } from '../tls/certificate-pair.ts';
import { makeSelfSigned } from '../tls/self-signed.ts';
import { startWebServer } from './server.ts';
import type { WebServer } from './server.ts';

const ON = 'server.proxy_protocol_enabled = true';
/** Only this loopback address is a load balancer. */
const BALANCER = '127.0.0.9';
const NAMED = `${ON}\nserver.proxy_protocol_trusted = ["${BALANCER}/32"]`;
const CLIENT = '192.0.2.99';
const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

let pair: CertificatePair;
let web: WebServer | undefined;
let logger: MemoryLogger;
let sockets: Socket[] = [];

beforeAll(async () => {
  pair = await makeSelfSigned(['localhost'], Date.now());
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await web?.close();
  web = undefined;
});

/** Answers with the sender of a request. */
function application(trustedProxies: readonly string[]): Express {
  const app = express();
  app.set('trust proxy', trustedProxies.length === 0 ? false : [...trustedProxies]);
  app.get('/', (req, response) => {
    const { remotePort, remoteFamily } = req.socket;
    const seen = { port: remotePort, family: remoteFamily, isHere: isOnThisMachine(req), secure: req.secure };
    response.json({ client: clientAddress(req), ...seen });
  });
  return app;
}

async function listen(toml: string, isSecure = false): Promise<void> {
  const config = testConfig(toml);
  logger = new MemoryLogger();
  const certificate = { current: () => pair, onChange: () => () => undefined };
  web = await startWebServer(application(config.server.trusted_proxies), config, logger, {
    certificate: isSecure ? certificate : undefined,
  });
}

async function open(from = '127.0.0.1'): Promise<Socket> {
  const { port } = web!.endpoints[0]!;
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
  socket.on('error', () => undefined);
  sockets.push(socket);
  await within('the connection', once(socket, 'connect'));
  return socket;
}

/** A request over a connection that begins with a PROXY header. */
async function askOver(socket: Socket, headers: Record<string, string> = {}): Promise<unknown> {
  const sent: ClientRequest = request({ host: 'localhost', headers, createConnection: () => socket });
  sent.end();
  const [answer] = (await within('the answer', once(sent, 'response'))) as [IncomingMessage];
  return JSON.parse(await text(answer)) as unknown;
}

/** The response of the server on a connection that begins with `header`. */
async function seenBehind(header: Uint8Array, from?: string): Promise<unknown> {
  const socket = await open(from);
  socket.write(header);
  return askOver(socket);
}

const closeOf = (socket: Socket): Promise<unknown> =>
  within(
    'the server to close the connection',
    new Promise((resolve) => socket.resume().once('close', resolve)),
  );

/** Lines of the log about headers. */
const refusals = (): Record<string, unknown>[] =>
  logger.lines.filter(({ message }) => message.includes('PROXY header')).map(({ fields }) => ({ ...fields }));

describe('the PROXY protocol on the web port', () => {
  test.each([
    ['IPv4', headerFor(CLIENT), CLIENT],
    ['IPv6', headerFor('2001:db8::99'), '2001:db8::99'],
    [
      'IPv4 within IPv6',
      headerOf('21', '21', `${'0'.repeat(20)}ffffc0000263`.repeat(2) + '12340035'),
      CLIENT,
    ],
    ['a checksum', checkedHeaderFor(CLIENT), CLIENT],
    [
      'values of TLS and of the operator',
      headerFor(CLIENT, 4660, tlv('20', '0100000000') + tlv('e0', 'ab')),
      CLIENT,
    ],
    ['a value that fills it', headerFor(CLIENT, 4660, tlv('04', '00'.repeat(4000))), CLIENT],
  ])('identifies the client: %s', async (_what, header, client) => {
    await listen(ON);
    expect(await seenBehind(header)).toEqual({
      client,
      port: 4660,
      family: client.includes(':') ? 'IPv6' : 'IPv4',
      isHere: false,
      secure: false,
    });
  });

  test.each([
    ['LOCAL, as of a health check', LOCAL_HEADER],
    ['LOCAL with an address, which is ignored', headerOf('20', '11', 'c0000263c633640112340035')],
    ['AF_UNSPEC', headerOf('21', '00', '')],
    ['AF_UNSPEC with values', headerOf('21', '00', tlv('05', 'abcd'))],
    ['a unix socket', headerOf('21', '31', '00'.repeat(216))],
  ])('treats the load balancer as the client, but never as the local machine: %s', async (_what, header) => {
    await listen(ON);
    expect(await seenBehind(header)).toMatchObject({ client: '127.0.0.1', isHere: false });
  });

  test('never treats the client in a header as the local machine, not even at 127.0.0.1', async () => {
    await listen(ON);
    for (const client of ['127.0.0.1', '::1'])
      expect(await seenBehind(headerFor(client))).toMatchObject({ client, isHere: false });
  });

  test('reads a header split over any segments, alone or with the data after it', async () => {
    await listen(ON);
    const whole = await open();
    whole.write(Buffer.concat([headerFor(CLIENT), Buffer.from(`${GET}${GET}`)]));
    const split = await open();
    for (const octet of Buffer.concat([checkedHeaderFor(CLIENT), Buffer.from(`${GET}${GET}`)])) {
      split.write(Uint8Array.of(octet));
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const socket of [whole, split]) {
      let received = '';
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      // Each request of the connection counts as coming from the client in the header.
      await until(
        'both answers',
        () => received,
        (text) => text.split(`"client":"${CLIENT}"`).length === 3,
      );
    }
  });

  test('identifies the client over HTTPS, and before the redirect to HTTPS', async () => {
    await listen(ON, true);
    for (const header of [headerFor(CLIENT), checkedHeaderFor(CLIENT)]) {
      const socket = await open();
      socket.write(header);
      const secured = connectTls({ socket, rejectUnauthorized: false });
      await within('the TLS handshake', once(secured, 'secureConnect'));
      expect(await askOver(secured)).toEqual({
        client: CLIENT,
        port: 4660,
        family: 'IPv4',
        isHere: false,
        secure: true,
      });
    }
    expect(await seenBehind(headerFor(CLIENT))).toMatchObject({ client: CLIENT, secure: false });
  });

  test('accepts X-Forwarded-For only from a trusted proxy behind the load balancer', async () => {
    await listen(`${ON}\nserver.trusted_proxies = ["192.0.2.99/32"]`);
    const forwarded = { 'x-forwarded-for': '198.51.100.7' };
    for (const [peer, client] of [
      [CLIENT, '198.51.100.7'],
      ['192.0.2.98', '192.0.2.98'],
      ['127.0.0.1', '127.0.0.1'],
    ] as const) {
      const socket = await open();
      socket.write(headerFor(peer));
      expect(await askOver(socket, forwarded)).toMatchObject({ client, isHere: false });
    }
  });

  test.each([
    ['none', GET],
    ['none, but a TLS handshake', Buffer.from('16030100f4010000f00303', 'hex')],
    ['version 1', `PROXY TCP4 ${CLIENT} 198.51.100.1 4660 80\r\n${GET}`],
    ['version 3', headerOf('31', '11', 'c0000263c633640112340035')],
    ['an unknown command', headerOf('22', '11', 'c0000263c633640112340035')],
    ['an unknown family', headerOf('21', '41', 'c0000263c633640112340035')],
    ['addresses that are cut off', headerOf('21', '11', 'c0000263c6336401')],
    ['a wrong checksum', checkedHeaderFor(CLIENT, 1)],
    ['a value longer than the header', headerOf('21', '11', 'c0000263c633640112340035' + '04ffff00')],
    ['more bytes than a header may have', headerOf('21', '11', 'c0000263c633640112340035', 4081)],
  ])('closes a connection without a response for an invalid header: %s', async (_what, bytes) => {
    await listen(ON);
    const socket = await open();
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.write(bytes);
    await closeOf(socket);
    expect(received).toBe('');
    expect(refusals()).toEqual([{ count: 1, last: '127.0.0.1' }]);
    expect(await seenBehind(headerFor(CLIENT))).toMatchObject({ client: CLIENT });
  });

  test('closes a connection that ends within its header, and a connection whose header arrives too late', async () => {
    await listen(ON);
    const half = await open();
    half.end(headerFor(CLIENT).subarray(0, 20));
    await closeOf(half);
    const silent = await open();
    silent.end();
    await closeOf(silent);
    const slow = await open();
    const dribble = setInterval(() => slow.write(Uint8Array.of(0)), 100);
    slow.write(headerOf('21', '11', 'c0000263c633640112340035', 4000));
    await closeOf(slow);
    clearInterval(dribble);
    // One line for the incomplete header; all other headers follow in one line after ten seconds.
    expect(refusals()).toEqual([{ count: 1, last: '127.0.0.1' }]);
  });

  test('treats other peers as clients if load balancers are configured, and ignores their headers', async () => {
    await listen(NAMED);
    expect(await seenBehind(headerFor(CLIENT), BALANCER)).toMatchObject({ client: CLIENT, isHere: false });
    for (const bytes of [GET, `\r\n${GET}`]) {
      const direct = await open();
      direct.write(bytes);
      const [received] = (await within('the answer', once(direct, 'data'))) as [Buffer];
      expect(received.toString()).toContain('"client":"127.0.0.1"');
      expect(received.toString()).toContain('"isHere":true');
    }
    for (const header of [headerFor('127.0.0.1'), LOCAL_HEADER, headerOf('31', '11', '')]) {
      const forger = await open();
      forger.write(header.subarray(0, 5));
      forger.write(header.subarray(5));
      forger.write(GET);
      await closeOf(forger);
    }
    const bare = await open(BALANCER);
    bare.write(GET);
    await closeOf(bare);
    expect(refusals()).toHaveLength(1);
  });

  test('limits the connections of clients, not of the load balancer', async () => {
    await listen(ON);
    const isServed = async (client: string): Promise<boolean> => {
      const socket = await open();
      socket.write(Buffer.concat([headerFor(client), Buffer.from(GET)]));
      return isAnswered(socket);
    };
    for (let n = 0; n < 50; n++) expect(await isServed(CLIENT)).toBe(true);
    expect([await isServed(CLIENT), await isServed('192.0.2.98')]).toEqual([false, true]);
  });

  test('accepts a load balancer even while silent connections occupy every slot for connections without a PROXY header', async () => {
    await listen(NAMED);
    const silent = await Promise.all(Array.from({ length: 300 }, () => open()));
    expect(await seenBehind(headerFor(CLIENT), BALANCER)).toMatchObject({ client: CLIENT });
    await until(
      'the connections that waited longest to be closed',
      () => silent.filter(({ closed }) => !closed).length,
      (count) => count <= 256,
    );
    expect(refusals()).toEqual([{ count: 1 }]);
  });

  test('close() closes connections whose header has not arrived', async () => {
    await listen(ON);
    const waiting = [await open(), await open()];
    waiting[1]!.write(headerFor(CLIENT).subarray(0, 14));
    const closed = waiting.map(closeOf);
    await seenBehind(LOCAL_HEADER);
    await web!.close();
    await Promise.all(closed);
  });
});
