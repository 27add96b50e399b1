import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { boundSocket } from '../../shared/net/kernel/bound-socket.ts';
import { describeCalls, systemCalls } from '../../test/support/parts/system-calls.ts';
import { within } from '../../test/support/parts/until.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { ListenError } from './listen-error.ts';
import { ListeningSockets } from './listening-sockets.ts';

const control = new Int32Array(new SharedArrayBuffer(WorkerControl.BYTES));
const copies: number[] = [];

describeCalls('ListeningSockets for DNS over TCP', () => {
  const sockets = new ListeningSockets(systemCalls, control);
  const at = (address: string, port: number): number[] => {
    const found = sockets.at({ address, port });
    copies.push(...found);
    return found;
  };

  afterEach(() => {
    for (const fd of copies.splice(0)) systemCalls.close(fd);
    sockets.close();
  });

  test('keep connections waiting in the queue when the server that accepts them has closed', async () => {
    const port = await freePort(['127.0.0.1']);
    const first = createServer().listen({ fd: sockets.at({ address: '127.0.0.1', port })[0]! });
    await once(first, 'listening');
    first.close();
    await within('the first server to close', once(first, 'close'));
    const client = connect(port, '127.0.0.1');
    await within('the connection', once(client, 'connect'));
    const second = createServer().listen({ fd: sockets.at({ address: '127.0.0.1', port })[0]! });
    const [accepted] = (await within(
      'the waiting connection to be accepted',
      once(second, 'connection'),
    )) as [Socket];
    expect(accepted.remotePort).toBe(client.localPort);
    for (const socket of [client, accepted]) socket.destroy();
    second.close();
  });

  test('are opened once for each address and IP version', async () => {
    const port = await freePort(['127.0.0.1', '::1']);
    const found = [...at('0.0.0.0', port), ...at('::', port), ...at('::', port)];
    expect(new Set(found).size).toBe(3);
    expect(control[WorkerControl.LISTENER_FD_COUNT_WORD]).toBe(2);
    expect(found.map((fd) => boundSocket(systemCalls, fd))).toEqual([
      { transport: 'tcp', address: '0.0.0.0', port, isDualStack: false },
      { transport: 'tcp', address: '::', port, isDualStack: false },
      { transport: 'tcp', address: '::', port, isDualStack: false },
    ]);
  });

  test('report an address that is not available', () => {
    expect(() => at('192.0.2.1', 5353)).toThrow(ListenError);
    expect(control[WorkerControl.LISTENER_FD_COUNT_WORD]).toBe(0);
  });
});
