import { afterEach, describe, expect, test } from '@jest/globals';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { DnsPortUnavailable, FALLBACK_DNS_PORT, chooseDnsPort } from './dns-port.ts';

const LOOPBACK = '127.0.0.1';
/** Addresses of this host that no other test uses. */
const OWN = '127.0.53.7';
const ALSO_OWN = '127.0.53.8';

const toClose: (() => void)[] = [];
afterEach(() => {
  for (const close of toClose.splice(0)) close();
});

/** Binds a TCP port; 0 = any. */
async function takeTcp(address: string, port = 0): Promise<number> {
  const server = createServer().listen({ host: address, port, exclusive: true });
  await once(server, 'listening');
  toClose.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Binds a UDP port that other sockets may share. */
async function takeUdp(address: string): Promise<number> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  socket.bind({ address, port: 0, exclusive: true });
  await once(socket, 'listening');
  toClose.push(() => socket.close());
  return socket.address().port;
}

describe('chooseDnsPort()', () => {
  test('tries a port that is free on every address, and releases it', async () => {
    const port = await freePort([LOOPBACK, OWN, ALSO_OWN]);
    await takeTcp(LOOPBACK, port);
    for (let time = 0; time < 2; time++)
      expect(await chooseDnsPort([OWN, ALSO_OWN], port, true)).toEqual({ port, notice: null });
    await takeTcp(OWN, port);
  });

  test.each([
    ['TCP', takeTcp],
    ['UDP', takeUdp],
  ])(
    'refuses a port that another program uses over %s, and explains how to find the program',
    async (transport, take) => {
      const port = await take(OWN);
      const refused: unknown = await chooseDnsPort([ALSO_OWN, OWN], port, true).catch(
        (error: unknown) => error,
      );
      expect(refused).toBeInstanceOf(DnsPortUnavailable);
      expect(String(refused)).toContain(
        `could not listen on ${OWN} ${transport} port ${port}: it is used by another program`,
      );
      expect(refused).toMatchObject({ cause: { code: 'EADDRINUSE' } });
    },
  );

  test('uses port 5300 if port 53 is only the default and in use, and explains why', async () => {
    const port = await takeTcp(OWN);
    expect(await chooseDnsPort([OWN], port, false)).toEqual({
      port: FALLBACK_DNS_PORT,
      notice: expect.stringContaining('used by another program'),
    });
  });

  test('gives both reasons if 5300 is also in use', async () => {
    const port = await takeTcp(OWN);
    await takeTcp(OWN, FALLBACK_DNS_PORT);
    await expect(chooseDnsPort([OWN], port, false)).rejects.toThrow(
      /TCP port \d+: .*; could not listen on .* port 5300: /,
    );
  });

  test('reports an address that this machine does not have', async () => {
    await expect(chooseDnsPort(['192.0.2.53'], 53_530, true)).rejects.toThrow(
      'could not listen on 192.0.2.53 UDP port 53530: this machine does not have that address',
    );
  });
});
