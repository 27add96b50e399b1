/**
 * Which address a request came from: the peer's, or what a reverse proxy of `server.trusted_proxies` says in
 * X-Forwarded-For. Express does the walking; this makes sure that the result is an address.
 */
import type { Request } from 'express';
import { addressFromText, addressToText } from '../../shared/net/ip.ts';

/** The client's address without zone, IPv4 never as ::ffff:a.b.c.d. */
export function clientAddress(request: Request): string {
  return plainAddress(request.ip) ?? plainAddress(request.socket.remoteAddress) ?? '0.0.0.0';
}

function plainAddress(text: string | undefined): string | undefined {
  const bytes = text === undefined ? null : addressFromText(text);
  return bytes === null ? undefined : addressToText(bytes);
}
