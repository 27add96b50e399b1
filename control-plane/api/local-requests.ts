/**
 * Recognizes requests over the Unix socket in the data directory. Anyone who can open the socket can read and change
 * everything, so file permissions replace the login.
 */
import type { Request } from 'express';
import type { Socket } from 'node:net';
import type { Caller } from './caller.ts';

/** The caller of every request over the Unix socket. */
export const LOCAL_CALLER: Caller = {
  username: 'cli',
  role: 'admin',
  userId: null,
  tokenId: null,
  sessionId: null,
  clientIds: null,
};

/**
 * Sockets of local connections. They cannot be recognized by their missing address, because a closed TCP connection has
 * no address either.
 */
const sockets = new WeakSet<Socket>();

/** Registers a connection to the Unix socket. */
export function admitLocally(socket: Socket): void {
  sockets.add(socket);
}

/** Whether a request came over the Unix socket. */
export function isLocal({ socket }: Pick<Request, 'socket'>): boolean {
  return sockets.has(socket);
}
