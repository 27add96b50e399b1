/**
 * The fallback back end for machines on which koffi does not load: node:dgram with SO_REUSEPORT, one callback per
 * datagram. The fallback uses the same pipeline.
 */
import { errorCode } from '../../shared/errors.ts';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Counter } from '../../shared/memory/counters.ts';
import { ListenError } from './listen-error.ts';
import type { CountUnsent } from './send-messages.ts';

/** Function that is called with each datagram. */
export type DatagramHandler = (
  message: Uint8Array,
  from: RemoteInfo,
  reply: (bytes: Uint8Array) => void,
) => void;

/** The open sockets of the fallback. */
export interface DatagramListener {
  /** Delivers the datagrams that the kernel has queued, then stops; replies can still be sent. */
  stopReceiving(): Promise<void>;
  /** Closes the sockets once the kernel has the pending replies. */
  close(): Promise<void>;
}

/** Size of a socket's receive queue in the kernel, which limits it to net.core.rmem_max. */
const SOCKET_BUFFER_BYTES = 4 << 20;
/**
 * Replies that may wait for space in a socket's send buffer. A longer queue would only delay all replies while the
 * buffer is full of packets to addresses that do not resolve.
 */
const MAX_WAITING_REPLIES = 256;
/** Time to read datagrams that the kernel has queued, in milliseconds. */
const QUEUE_MS = 20;

/** Binds every address; throws a ListenError. Calls `countUnsent` for replies that cannot be sent. */
export async function listenDgram(
  addresses: readonly string[],
  port: number,
  handler: DatagramHandler,
  countUnsent: CountUnsent,
): Promise<DatagramListener> {
  const sockets: Socket[] = [];
  for (const address of addresses) {
    try {
      const socket = await openSocket(address, port);
      deliver(socket, handler, countUnsent);
      sockets.push(socket);
    } catch (error) {
      await closeAll(sockets);
      throw new ListenError(address, port, errorCode(error));
    }
  }
  const stopReceiving = async (): Promise<void> => {
    await sleep(QUEUE_MS);
    for (const socket of sockets) socket.removeAllListeners('message');
  };
  return { stopReceiving, close: () => closeAll(sockets) };
}

async function openSocket(address: string, port: number): Promise<Socket> {
  const socket = createSocket({
    type: isIPv6(address) ? 'udp6' : 'udp4',
    ipv6Only: isIPv6(address),
    reusePort: true,
    recvBufferSize: SOCKET_BUFFER_BYTES,
    sendBufferSize: SOCKET_BUFFER_BYTES,
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  // A socket error must not end the thread.
  socket.on('error', () => undefined);
  return socket;
}

function deliver(socket: Socket, handler: DatagramHandler, countUnsent: CountUnsent): void {
  const onSent = (error: Error | null): void => {
    if (error !== null) countUnsent(Counter.SEND_ERRORS);
  };
  socket.on('message', (message, from) => {
    handler(message, from, (bytes) => {
      if (socket.getSendQueueCount() >= MAX_WAITING_REPLIES) countUnsent(Counter.SEND_BUFFER_FULL);
      else socket.send(bytes, from.port, from.address, onSent);
    });
  });
}

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  // dgram passes a datagram to the kernel in a later tick, and drops it after close().
  await setImmediate();
  await Promise.all(
    sockets.map(async (socket) => {
      socket.close();
      await once(socket, 'close');
    }),
  );
}
