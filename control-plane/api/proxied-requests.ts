/**
 * Recognizes requests on connections that began with a PROXY header. They come through a load balancer, so they never
 * count as requests from this machine, even if the header contains one of its addresses.
 */
import type { Request } from 'express';
import type { Socket } from 'node:net';

const sockets = new WeakSet<Socket>();

/** Registers a connection, or the TLS socket of a connection. */
export function admitProxied(socket: Socket): void {
  sockets.add(socket);
}

/** Whether a request came over a connection that began with a PROXY header. */
export function isProxied({ socket }: Pick<Request, 'socket'>): boolean {
  return sockets.has(socket);
}
