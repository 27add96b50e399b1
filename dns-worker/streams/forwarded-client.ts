/** The client behind reverse proxies, from their X-Forwarded-For header (`server.trusted_proxies`). */
import { networkContains } from '../../shared/net/cidr.ts';
import type { Network } from '../../shared/net/cidr.ts';
import { addressFromText } from '../../shared/net/ip.ts';

/** Maximum number of addresses in a header that are read. */
const MAX_HOPS = 16;

/**
 * The nearest address that is not a trusted proxy, 16 bytes: each proxy appends the address of its peer, so only
 * entries that trusted proxies appended are used. Returns `peer` itself if it is not trusted, or if no entry is
 * readable.
 */
export function forwardedClient(
  peer: Uint8Array,
  forwardedFor: string | undefined,
  trusted: readonly Network[],
): Uint8Array {
  const isTrusted = (address: Uint8Array): boolean =>
    trusted.some((network) => networkContains(network, address));
  if (forwardedFor === undefined || !isTrusted(peer)) return peer;
  let client = peer;
  for (const hop of forwardedFor.split(',').reverse().slice(0, MAX_HOPS)) {
    const address = addressFromText(hop.trim());
    if (address === null) break;
    client = address;
    if (!isTrusted(address)) break;
  }
  return client;
}
