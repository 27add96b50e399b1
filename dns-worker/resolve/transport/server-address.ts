/** Addresses of servers as text: parsing, and the form in which the system writes them. */
import { SocketAddress, isIP } from 'node:net';
import type { ServerAddress } from './exchange.ts';

/** The form in which the system writes this address; `ip` is a literal, whose zone index is removed. */
export function canonicalIp(ip: string): string {
  if (isIP(ip) !== 6) return ip;
  const zone = ip.indexOf('%');
  const address = zone < 0 ? ip : ip.slice(0, zone);
  return new SocketAddress({ address, family: 'ipv6' }).address + (zone < 0 ? '' : ip.slice(zone));
}

/**
 * Parses `ip`, `ip:port` and `[ip]:port`, with or without the prefix `udp://`; null for all other texts, including host
 * names.
 */
export function parseServerAddress(text: string, defaultPort: number): ServerAddress | null {
  const bare = text.replace(/^udp:\/\//i, '');
  const match = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(bare) ?? /^([^:]+)(?::(\d{1,5}))?$/.exec(bare);
  const ip = match?.[1] ?? bare;
  const port = match?.[2] === undefined ? defaultPort : Number(match[2]);
  const family = isIP(ip);
  if ((family !== 4 && family !== 6) || port < 1 || port > 65_535) return null;
  return { ip: canonicalIp(ip), port, family };
}
