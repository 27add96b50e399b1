/**
 * How a connection ends whose other side may reset it: a server that closes before it has read everything resets, and
 * `once(socket, 'close')` rejects with that.
 */
import type { Socket } from 'node:net';

/** Resolves when the connection is closed, by whom and however; to be called before anything was awaited. */
export function closeOf(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/** Whether octets come back before the end. */
export function isAnswered(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true));
    void closeOf(socket).then(() => resolve(false));
  });
}
