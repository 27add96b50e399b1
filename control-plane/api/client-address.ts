/**
 * Determines the address from which a request came: that of the peer, the one in a PROXY header, or the one that a
 * reverse proxy in `server.trusted_proxies` wrote to X-Forwarded-For. Express evaluates the header field; this file
 * ensures that the result is an address.
 */
import type { Request } from 'express';
import { addressFromText, addressToText, isMappedIpv4 } from '../../shared/net/ip.ts';
import { isLocal } from './local-requests.ts';
import { isProxied } from './proxied-requests.ts';

/** The client's address without zone; IPv4 is never in the form ::ffff:a.b.c.d. */
export function clientAddress(request: Request): string {
  return plainAddress(request.ip) ?? plainAddress(request.socket.remoteAddress) ?? '0.0.0.0';
}

/** Fields that proxies add. */
const PROXY_FIELDS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/**
 * Whether the request comes from this machine and not through a proxy: over the local socket, or from a loopback
 * address outside `server.trusted_proxies`, without a PROXY header and without header fields that proxies add.
 */
export function isOnThisMachine(request: Request): boolean {
  if (isLocal(request)) return true;
  if (isProxied(request)) return false;
  const peer = request.socket.remoteAddress;
  if (peer === undefined || !isLoopback(peer)) return false;
  return !hasTrustedProxy(request) && PROXY_FIELDS.every((field) => request.headers[field] === undefined);
}

/** Whether the request came through a proxy that is not in `server.trusted_proxies`, so that its client is unknown. */
export function isThroughUnknownProxy(request: Request): boolean {
  return !hasTrustedProxy(request) && PROXY_FIELDS.some((field) => request.headers[field] !== undefined);
}

/**
 * Whether the address may hide the real client, because it is the address of this machine, of an unknown proxy, or of a
 * trusted proxy that does not report the client.
 */
export function isClientHidden(request: Request): boolean {
  if (isOnThisMachine(request) || isThroughUnknownProxy(request)) return true;
  return !isProxied(request) && hasTrustedProxy(request) && request.ips.length === 0;
}

function hasTrustedProxy(request: Request): boolean {
  const isTrustedProxy = request.app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return isTrustedProxy(request.socket.remoteAddress ?? '', 0);
}

/**
 * Whether the peer is on this machine, is a proxy in `server.trusted_proxies`, or is a load balancer that sent a PROXY
 * header.
 */
export function isFromTrustedPeer(request: Request): boolean {
  const peer = request.socket.remoteAddress;
  if (isLocal(request) || isProxied(request)) return true;
  if (peer === undefined) return false;
  const isTrustedProxy = request.app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return isLoopback(peer) || isTrustedProxy(peer, 0);
}

function isLoopback(text: string): boolean {
  const bytes = addressFromText(text);
  if (bytes === null) return false;
  return isMappedIpv4(bytes) ? bytes[12] === 127 : addressToText(bytes) === '::1';
}

function plainAddress(text: string | undefined): string | undefined {
  const bytes = text === undefined ? null : addressFromText(text);
  return bytes === null ? undefined : addressToText(bytes);
}
