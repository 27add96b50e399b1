import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { within } from '../../test/support/parts/until.ts';
import { clientKeyIn, serverNameIn } from './client-hello.ts';
import { X509Certificate } from 'node:crypto';
import { TestAuthority } from '../../test/support/dns/certificates.ts';
import fc from '../../test/support/parts/fast-check.ts';

const NAME = 'phone.dns.example.org';
let hellos: Buffer[];

/** The first bytes that a Node.js client sends. */
async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = connect({ port, host: '127.0.0.1', ...options });
  client.on('error', () => undefined);
  const [socket] = (await within('the connection', once(server, 'connection'))) as [Socket];
  const [hello] = (await within('the ClientHello', once(socket, 'data'))) as [Buffer];
  for (const one of [client, socket]) one.destroy();
  server.close();
  return hello;
}

beforeAll(async () => {
  hellos = [
    await helloOf({ servername: NAME, minVersion: 'TLSv1.3' }),
    await helloOf({ servername: NAME, maxVersion: 'TLSv1.2', ALPNProtocols: ['dot'] }),
  ];
});

describe('serverNameIn(), the server name in a ClientHello,', () => {
  test('reads the server name of a ClientHello, whatever bytes follow', () => {
    expect(hellos.map(serverNameIn)).toEqual([NAME, NAME]);
    const more = hellos.map((hello) => Buffer.concat([hello, Buffer.from('more')]));
    expect(more.map(serverNameIn)).toEqual([NAME, NAME]);
  });

  test('returns an empty string if the client sends no server name', async () => {
    expect(serverNameIn(await helloOf({}))).toBe('');
  });

  test('returns null until the whole message has arrived', () => {
    for (const hello of hellos)
      for (let length = 0; length < hello.length; length++)
        expect(serverNameIn(hello.subarray(0, length))).toBeNull();
  });

  test.each([
    '',
    'GET / HTTP/1.1\r\n',
    '\x16\x03\x01\xff\xff',
    '\x15\x03\x01\x00\x00',
    '\x16\x03\x01\x00\x00',
  ])('finds no server name in %j', (text) =>
    expect(serverNameIn(Buffer.from(text, 'latin1'))).toBe(text === '' ? null : ''),
  );

  test('reads only bytes within the message, even if its length fields are wrong', () => {
    const changed = fc.record({
      hello: fc.integer({ min: 0, max: 1 }),
      octets: fc.array(fc.tuple(fc.nat(700), fc.nat(255)), { minLength: 1, maxLength: 6 }),
    });
    fc.assert(
      fc.property(changed, ({ hello, octets }) => {
        const bytes = Buffer.from(hellos[hello]!);
        for (const [at, octet] of octets) bytes[5 + (at % (bytes.length - 5))] = octet;
        expect(typeof serverNameIn(bytes)).toBe('string');
      }),
      { numRuns: 2000 },
    );
  });
});

let authority: TestAuthority;
let exact: X509Certificate;
let wildcard: X509Certificate;
let address: X509Certificate;
beforeAll(() => {
  authority = new TestAuthority();
  const issue = (names: string): X509Certificate => new X509Certificate(authority.issue(names).cert);
  exact = issue('DNS:dns.example.org,DNS:phone.dns.example.org,IP:192.0.2.1');
  wildcard = issue('DNS:tv.dns.example.org,DNS:*.dns.example.org');
  address = issue('IP:192.0.2.1');
});
afterAll(() => authority.close());

describe('clientKeyIn(), which reads a client key from a TLS server name,', () => {
  test.each([
    ['phone.dns.example.org', 'phone'],
    ['other.dns.example.org', 'other'],
    ['PHONE.DNS.example.ORG', 'phone'],
    [`${'k'.repeat(63)}.dns.example.org`, 'k'.repeat(63)],
  ])('returns the first label of %s, for a certificate with the parent name or its wildcard', (name, key) => {
    expect([clientKeyIn(name, exact), clientKeyIn(name, wildcard)]).toEqual([key, key]);
  });

  test('returns a key that is part of a name in the certificate', () => {
    expect(clientKeyIn('tv.dns.example.org', wildcard)).toBe('tv');
  });

  test.each([
    'dns.example.org',
    'phone.example.org',
    'phone.dns.example.net',
    'a.phone.dns.example.org.evil.example',
    'a.b.c.dns.example.org',
    '',
    '.',
    '.dns.example.org',
    'dns',
    'phone.dns.example.org.',
    'phone..dns.example.org',
    '-phone.dns.example.org',
    'pho_ne.dns.example.org',
    'phöne.dns.example.org',
    '*.dns.example.org',
    'phone.*',
    'phone.192.0.2.1',
    '192.0.2.1',
    '2001:db8::1',
    'phone.dns.example.org\0.evil.example',
    `${'k'.repeat(64)}.dns.example.org`,
    `phone.${'dns.example.org.'.repeat(4000)}`,
  ])('finds no key in %j', (name) => {
    expect([exact, wildcard, address, null].map((certificate) => clientKeyIn(name, certificate))).toEqual([
      ...['', '', '', ''],
    ]);
  });
});
