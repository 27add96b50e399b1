/**
 * Ends of connections that the peer may reset: a server that closes before it has read everything sends a reset, on
 * which `once(socket, 'close')` rejects.
 */
import type { Socket } from 'node:net';
import { within } from '../parts/until.ts';

/** Resolves when either side has closed the connection in any way. Must be called before the caller awaits anything. */
export function closeOf(socket: Socket): Promise<void> {
  return within('a connection to be closed', ended(socket), { lastSeen: () => readBytes(socket) });
}

/** Whether bytes arrive before the connection ends. */
export function isAnswered(socket: Socket): Promise<boolean> {
  const answered = new Promise<boolean>((resolve) => {
    socket.once('data', () => resolve(true));
    void ended(socket).then(() => resolve(false));
  });
  return within('the first bytes or the end of a connection', answered);
}

function ended(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

function readBytes(socket: Socket): string {
  return `${String(socket.bytesRead)} bytes from port ${String(socket.remotePort)}`;
}
