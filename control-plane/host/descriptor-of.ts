/** Returns the file descriptor of a connection or listener, for which Node.js has no public API. */
import type { Server, Socket } from 'node:net';

/** The descriptor of a socket; throws if there is none, for example because the socket was closed. */
export function descriptorOf(socket: Socket | Server): number {
  const { _handle: handle } = socket as unknown as { _handle: { readonly fd: number } | null };
  if (handle === null || !(handle.fd >= 0))
    throw new Error('could not read the descriptor of a socket: it is closed');
  return handle.fd;
}
