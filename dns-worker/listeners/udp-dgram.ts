/**
 * The fallback back end: node:dgram with SO_REUSEPORT, one callback a datagram, for machines where koffi
 * does not load. It answers through the same pipeline and passes the same tests.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { ListenError } from './listen-error.ts';

/** What to do with a datagram. */
export type DatagramHandler = (
  message: Uint8Array,
  from: RemoteInfo,
  reply: (bytes: Uint8Array) => void,
) => void;

/** Binds every address; throws a ListenError. The result closes the sockets. */
export async function listenDgram(
  addresses: readonly string[],
  port: number,
  handler: DatagramHandler,
): Promise<{ close(): Promise<void> }> {
  const sockets: Socket[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(
      sockets.map(async (socket) => {
        socket.close();
        await once(socket, 'close');
      }),
    );
  };
  for (const address of addresses) {
    const socket = createSocket({
      type: isIPv6(address) ? 'udp6' : 'udp4',
      ipv6Only: isIPv6(address),
      reusePort: true,
    });
    try {
      socket.bind(port, address);
      await once(socket, 'listening');
    } catch (error) {
      await close();
      throw new ListenError(address, port, errorCode(error));
    }
    // A send that fails (an unreachable client) must not end the thread.
    socket.on('error', () => undefined);
    socket.on('message', (message, from) => {
      handler(message, from, (bytes) => {
        socket.send(bytes, from.port, from.address, () => undefined);
      });
    });
    sockets.push(socket);
  }
  return { close };
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : String(error);
}
