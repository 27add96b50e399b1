/**
 * Ends the connection of a request that is answered before its body has arrived, for example after a 401, 404 or 413.
 * Node would read the body to its end, whatever its size, and discard it.
 */
import type { NextFunction, Request, Response } from 'express';
import type { Socket } from 'node:net';
import type { Clock } from '../../../shared/clock.ts';
import { clientAddress } from '../../api/client-address.ts';
import { RequestLimit } from '../../api/request-limit.ts';

/** Node reads bodies up to this length regardless of the response, and the connection stays open. */
const SMALL_BYTES = 64 * 1024;
/**
 * A remainder up to this length is also read: many clients read the response only after they have sent their last byte,
 * and a reset before that would discard the response. Longer remainders only work with clients that read while they
 * send.
 */
const MAX_REST_BYTES = 1024 * 1024;
/** Rate limits on reading remainders for one client network and in total, so that a flood is not read. */
const DRAINS_PER_NETWORK = { perSecond: 0.2, burst: 8 };
const RESTS_OF_ALL = { perSecond: 2, burst: 64 };
/** Time for a client to read the response. */
const LINGER_MS = 1000;
const POLL_MS = 10;

/** Connections that are being closed: nothing that arrives on them is answered. */
const ending = new WeakSet<Socket>();

/** Creates the middleware; must be the first middleware, so that it sees every response. */
export function leaveUnreadBodies(clock: Clock) {
  const limits = {
    network: new RequestLimit(clock, DRAINS_PER_NETWORK),
    all: new RequestLimit(clock, RESTS_OF_ALL),
  };
  const mayReadRest = (request: Request, readBytes: number): boolean => {
    const restBytes = Number(request.headers['content-length'] ?? Infinity) - readBytes;
    return (
      restBytes <= MAX_REST_BYTES && limits.network.takes(clientAddress(request)) && limits.all.takes('all')
    );
  };

  return (request: Request, response: Response, next: NextFunction): void => {
    const { socket } = request;
    if (ending.has(socket)) {
      socket.destroy();
      return;
    }
    if (mayBeLarge(request)) {
      const { shouldKeepAlive } = response;
      response.shouldKeepAlive = false;
      request.once('end', () => (response.shouldKeepAlive = shouldKeepAlive));
      const { bytesRead: fromBytes } = socket;
      const destroySoon = socket.destroySoon.bind(socket);
      socket.destroySoon = () => {
        if (request.complete) return destroySoon();
        ending.add(socket);
        if (mayReadRest(request, socket.bytesRead - fromBytes)) readRest(request, destroySoon);
        else endUnread(socket);
      };
    }
    next();
  };
}

/** HTTP/1.0 has no chunked encoding: such a request is refused, and its connection ends immediately. */
function mayBeLarge({ headers, httpVersionMinor }: Request): boolean {
  const isChunked = headers['transfer-encoding'] !== undefined && httpVersionMinor > 0;
  return isChunked || Number(headers['content-length'] ?? 0) > SMALL_BYTES;
}

/** Closes the connection after the last byte of the request, or when the client is late. */
function readRest(request: Request, destroySoon: () => void): void {
  const { socket } = request;
  const untilMs = performance.now() + LINGER_MS;
  // Node emits no event for bytes that it discards.
  const check = setInterval(() => {
    if (request.complete) destroySoon();
    else if (performance.now() > untilMs) socket.destroy();
  }, POLL_MS).unref();
  socket.once('close', () => clearInterval(check));
}

/**
 * Half-closes the connection, reads nothing more, and closes when the client has had time to read the response: closing
 * immediately would reset the connection, as there are unread bytes.
 */
export function endUnread(socket: Socket): void {
  socket.end();
  socket.pause();
  // Node resumes the socket of an unread body.
  socket.on('resume', () => socket.pause());
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(cut));
}
