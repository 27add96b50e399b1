/**
 * Ends the connection of a request that is answered before its body has come, after a 401, 404 or 413 for example. Node
 * would read the body to its end, at any size, and throw it away.
 */
import type { NextFunction, Request, Response } from 'express';
import type { Socket } from 'node:net';

/** Bodies up to this length are read by Node whatever the answer is, and the connection stays. */
const SMALL_BYTES = 64 * 1024;
/** How long a client that still sends may take to read the answer; a reset at once would drop it. */
const LINGER_MS = 1000;

/** The middleware; the first, so that it knows of every answer. */
export function leaveUnreadBodies(request: Request, response: Response, next: NextFunction): void {
  if (mayBeLarge(request)) {
    const { shouldKeepAlive } = response;
    response.shouldKeepAlive = false;
    request.once('end', () => (response.shouldKeepAlive = shouldKeepAlive));
    const { socket } = request;
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => (request.complete ? destroySoon() : linger(socket));
  }
  next();
}

function mayBeLarge({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BYTES;
}

/** Ends the sending side, reads no more, and lets the client read the answer. */
function linger(socket: Socket): void {
  socket.end();
  // Node resumes reading in this turn of the event loop.
  setImmediate(() => socket.pause());
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(cut));
}
