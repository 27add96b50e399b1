/** The file descriptor of a connection or listener; Node.js has no public API for it. */
import type { Server, Socket } from 'node:net';

/** Throws if the socket has no descriptor, for example after it was closed. */
export function descriptorOf(socket: Socket | Server): number {
  const { _handle: handle } = socket as unknown as { _handle: { readonly fd: number } | null };
  if (handle === null || !(handle.fd >= 0))
    throw new Error('could not read the descriptor of a socket: it is closed');
  return handle.fd;
}
