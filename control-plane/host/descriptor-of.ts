/** The descriptor of a connection or listener of Node, which has no public name for it. */
import type { Server, Socket } from 'node:net';

/** Throws if the socket has none, for example after its end. */
export function descriptorOf(socket: Socket | Server): number {
  const { _handle: handle } = socket as unknown as { _handle: { readonly fd: number } | null };
  if (handle === null || !(handle.fd >= 0)) throw new Error('read the descriptor of a socket: it is closed');
  return handle.fd;
}
