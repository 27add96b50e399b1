import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, writeSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { describeCalls, systemCalls } from '../../test/support/parts/system-calls.ts';
import { until } from '../../test/support/parts/until.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { packSocketAddress } from '../../shared/net/kernel/socket-address.ts';
import { UdpReply, type UdpOrigin } from './udp-reply.ts';
import { openUdpSockets } from './udp-sockets.ts';

const LOOPBACK = addressFromText('127.0.0.1')!;

function originAt(port: number): UdpOrigin {
  const { bytes, length } = packSocketAddress(LOOPBACK, port);
  return { socket: 0, nameLength: length, bytes: bytes.slice(0, length) };
}

describeCalls('UdpReply', () => {
  test('counts a reply that the kernel refuses, and sends the replies before and after it', async () => {
    const control = new Int32Array(new SharedArrayBuffer(WorkerControl.BYTES));
    openUdpSockets(systemCalls, control, ['127.0.0.1'], 0);
    const unsent: number[] = [];
    const replies = new UdpReply(systemCalls, control, (counter) => unsent.push(counter));
    const client = createSocket('udp4');
    client.bind(0, '127.0.0.1');
    await once(client, 'listening');
    const received: number[] = [];
    client.on('message', (message) => received.push(message[0]!));
    const { port } = client.address();
    // Nothing can be sent to port 0.
    for (const [index, to] of [port, 0, port, 0, 0, port].entries())
      replies.send(Uint8Array.of(index), originAt(to));
    await until(
      'three replies',
      () => received,
      (all) => all.length === 3,
    );
    expect(received).toEqual([0, 2, 5]);
    expect(unsent).toEqual([Counter.SEND_ERRORS, Counter.SEND_ERRORS, Counter.SEND_ERRORS]);
    replies.finish(false);
    client.close();
  });

  test('finish() closes the sockets, and leaves the eventfd open for the control plane', () => {
    const control = new Int32Array(new SharedArrayBuffer(WorkerControl.BYTES));
    openUdpSockets(systemCalls, control, ['127.0.0.1'], 0);
    const wakeFd = systemCalls.eventfd(0, 0);
    Atomics.store(control, WorkerControl.WAKE_FD_WORD, wakeFd);
    new UdpReply(systemCalls, control, () => undefined).finish(false);
    expect(control[WorkerControl.UDP_FD_COUNT_WORD]).toBe(0);
    expect(writeSync(wakeFd, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0))).toBe(8);
    closeSync(wakeFd);
  });
});
