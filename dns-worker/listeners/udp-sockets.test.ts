import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { afterEach, expect, test } from '@jest/globals';
import { describeCalls, systemCalls } from '../../test/support/parts/system-calls.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { ListenError } from './listen-error.ts';
import { openUdpSockets, type UdpSocket } from './udp-sockets.ts';

function newControl(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(WorkerControl.BYTES));
}

/** An option of a socket, as set in the kernel. */
function option(fd: number, level: number, name: number): number {
  const koffi = createRequire(import.meta.url)('koffi') as {
    load(path: null): { func(declaration: string): (...args: unknown[]) => number };
  };
  const value = new Int32Array(1);
  const get = koffi.load(null).func('int getsockopt(int fd, int level, int name, void *value, void *length)');
  expect(get(fd, level, name, value, Uint32Array.of(value.byteLength))).toBe(0);
  return value[0]!;
}

const opened = new Set<number>();

afterEach(() => {
  for (const fd of opened) systemCalls.close(fd);
  opened.clear();
});

const open = (control: Int32Array, addresses: readonly string[], port: number): UdpSocket[] => {
  const sockets = openUdpSockets(systemCalls, control, addresses, port);
  for (const { fd } of sockets) opened.add(fd);
  return sockets;
};

describeCalls('openUdpSockets(), the UDP sockets of a worker,', () => {
  test('opens a socket for each address, and several workers share a port', async () => {
    const port = await freePort(['127.0.0.1', '::1']);
    const one = open(newControl(), ['127.0.0.1', '::1'], port);
    const other = open(newControl(), ['127.0.0.1', '::1'], port);
    expect(new Set([...one, ...other].map(({ fd }) => fd)).size).toBe(4);
    expect(one.map(({ hasPacketInfo }) => hasPacketInfo)).toEqual([false, false]);
  });

  test('records the file descriptors of its sockets, and reuses recorded descriptors', () => {
    const control = newControl();
    const [socket] = open(control, ['127.0.0.1'], 0);
    expect(control[WorkerControl.UDP_FD_COUNT_WORD]).toBe(1);
    expect(control[WorkerControl.UDP_FD_FIRST_WORD]).toBe(socket!.fd);
    expect(open(control, ['127.0.0.1'], 0)).toEqual([socket]);
  });

  test('serves both wildcard addresses with one socket that reports local addresses', async () => {
    const port = await freePort(['127.0.0.1']);
    const sockets = open(newControl(), ['0.0.0.0', '::'], port);
    expect(sockets).toHaveLength(1);
    expect(sockets[0]!.hasPacketInfo).toBe(true);
  });

  test('serves only IPv6 if only the IPv6 wildcard is configured', async () => {
    const port = await freePort(['127.0.0.1']);
    open(newControl(), ['::'], port);
    // Another program may still use the IPv4 port.
    const client = createSocket('udp4');
    client.bind(port, '127.0.0.1');
    await once(client, 'listening');
    client.close();
  });

  test('allows fragmentation and ignores the path MTU, over IPv4 and IPv6 (RFC 9715)', async () => {
    const OMIT = 5;
    const MTU_DISCOVER = { ipv4: [0, 10], ipv6: [41, 23] } as const;
    const sockets = open(newControl(), ['127.0.0.1', '::1'], await freePort(['127.0.0.1', '::1']));
    const wildcard = open(newControl(), ['0.0.0.0', '::'], 0);
    expect([
      option(sockets[0]!.fd, ...MTU_DISCOVER.ipv4),
      option(sockets[1]!.fd, ...MTU_DISCOVER.ipv6),
      option(wildcard[0]!.fd, ...MTU_DISCOVER.ipv4),
      option(wildcard[0]!.fd, ...MTU_DISCOVER.ipv6),
    ]).toEqual([OMIT, OMIT, OMIT, OMIT]);
  });

  test('reports which address cannot be opened and why, and leaves no descriptor open', () => {
    const control = newControl();
    for (const [address, code] of [
      ['192.0.2.1', 'EADDRNOTAVAIL'],
      ['localhost', 'EINVAL'],
    ] as const) {
      let thrown: unknown;
      try {
        open(control, [address], 5353);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(ListenError);
      expect(thrown).toMatchObject({ address, port: 5353, code });
    }
    expect(control[WorkerControl.UDP_FD_COUNT_WORD]).toBe(0);
  });
});
