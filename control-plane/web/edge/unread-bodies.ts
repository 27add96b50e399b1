/**
 * Ends the connection of a request that is answered before its body has come, after a 401, 404 or 413 for example. Node
 * would read the body to its end, at any size, and throw it away.
 */
import type { NextFunction, Request, Response } from 'express';
import type { Socket } from 'node:net';

/** Bodies up to this length are read by Node whatever the answer is, and the connection stays. */
const SMALL_BYTES = 64 * 1024;
/**
 * How long, and how many bytes, a client may still send while it reads the answer: a reset at once would drop the answer,
 * and many clients look at it only after their last byte.
 */
const LINGER_MS = 1000;
const LINGER_BYTES = 8 * 1024 * 1024;
const LOOK_MS = 10;

/** Connections that end: nothing that comes on them is answered. */
const ending = new WeakSet<Socket>();

/** The middleware; the first, so that it knows of every answer. */
export function leaveUnreadBodies(request: Request, response: Response, next: NextFunction): void {
  if (ending.has(request.socket)) {
    request.socket.destroy();
    return;
  }
  if (mayBeLarge(request)) {
    const { shouldKeepAlive } = response;
    response.shouldKeepAlive = false;
    request.once('end', () => (response.shouldKeepAlive = shouldKeepAlive));
    const { socket } = request;
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      if (request.complete) destroySoon();
      else {
        ending.add(socket);
        linger(socket, () => request.complete, destroySoon);
      }
    };
  }
  next();
}

/** In HTTP/1.0 nothing is chunked: such a request is refused, and its connection ends at once. */
function mayBeLarge({ headers, httpVersionMinor }: Request): boolean {
  const isChunked = headers['transfer-encoding'] !== undefined && httpVersionMinor > 0;
  return isChunked || Number(headers['content-length'] ?? 0) > SMALL_BYTES;
}

/** Lets the client read the answer, and closes the connection. */
function linger(socket: Socket, isComplete: () => boolean, destroySoon: () => void): void {
  const fromBytes = socket.bytesRead;
  const untilMs = performance.now() + LINGER_MS;
  // Node emits no event for bytes that it discards.
  const look = setInterval(() => {
    if (isComplete()) destroySoon();
    else if (socket.bytesRead - fromBytes > LINGER_BYTES || performance.now() > untilMs) socket.destroy();
  }, LOOK_MS).unref();
  socket.once('close', () => clearInterval(look));
}
