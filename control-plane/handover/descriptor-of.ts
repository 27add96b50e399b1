/** The descriptor of a connection of Node, which has no public name for it. */
import type { Socket } from 'node:net';

/** Throws where the connection has none, as after its end. */
export function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { _handle: { readonly fd: number } | null };
  if (handle === null || !(handle.fd >= 0))
    throw new Error('read the descriptor of a connection: it is closed');
  return handle.fd;
}
