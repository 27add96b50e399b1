/**
 * Requests that came over the Unix socket in the data directory. Anyone who can open that file can read and change
 * everything there, so file permissions replace the login.
 */
import type { Request } from 'express';
import type { Socket } from 'node:net';
import type { Caller } from './caller.ts';

/** The caller of such a request. */
export const LOCAL_CALLER: Caller = {
  username: 'cli',
  role: 'admin',
  userId: null,
  tokenId: null,
  sessionId: null,
  clientIds: null,
};

/** A connection without an address may as well be one that has gone, so these are remembered. */
const sockets = new WeakSet<Socket>();

/** Remembers a connection of the unix socket. */
export function admitLocally(socket: Socket): void {
  sockets.add(socket);
}

/** Whether a request came over it. */
export function isLocal({ socket }: Pick<Request, 'socket'>): boolean {
  return sockets.has(socket);
}
