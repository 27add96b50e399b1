/**
 * Requests on connections that began with a PROXY header. A load balancer stands between, so no such request counts as
 * one of this machine, whatever address the header names, or if it names none.
 */
import type { Request } from 'express';
import type { Socket } from 'node:net';

const sockets = new WeakSet<Socket>();

/** Remembers a connection, or the socket that TLS puts around one. */
export function admitProxied(socket: Socket): void {
  sockets.add(socket);
}

/** Whether a request came over such a connection. */
export function isProxied({ socket }: Pick<Request, 'socket'>): boolean {
  return sockets.has(socket);
}
