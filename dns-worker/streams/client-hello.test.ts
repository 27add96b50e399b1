import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from '../../test/support/parts/fast-check.ts';
import { within } from '../../test/support/parts/until.ts';
import { serverNameIn } from './client-hello.ts';

const NAME = 'phone.dns.example.org';
let hellos: Buffer[];

/** What a client of Node sends first. */
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

describe('serverNameIn()', () => {
  test('reads the name that clients ask for, whatever follows', () => {
    expect(hellos.map(serverNameIn)).toEqual([NAME, NAME]);
    const more = hellos.map((hello) => Buffer.concat([hello, Buffer.from('more')]));
    expect(more.map(serverNameIn)).toEqual([NAME, NAME]);
  });

  test('finds none where the client asks for none', async () => {
    expect(serverNameIn(await helloOf({}))).toBe('');
  });

  test('waits for the whole message', () => {
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
  ])('finds none in %j', (text) =>
    expect(serverNameIn(Buffer.from(text, 'latin1'))).toBe(text === '' ? null : ''),
  );

  test('reads within the message whatever its lengths say', () => {
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
