/** Determines the network in which a client is refused or allowed. Pure. */
import { clearAfter, IPV4_PREFIX_BITS, networkToText } from '../../../shared/net/cidr.ts';
import { addressFromText, isMappedIpv4 } from '../../../shared/net/ip.ts';

const IPV4_BITS = 24;
const IPV6_BITS = 56;

/**
 * The /24 of an IPv4 address, or the /56 of an IPv6 address, which are common sizes of the network of a home or an
 * office; other text is returned unchanged.
 */
export function accessNetwork(address: string): string {
  const bytes = addressFromText(address);
  if (bytes === null) return address;
  const prefixBits = isMappedIpv4(bytes) ? IPV4_PREFIX_BITS + IPV4_BITS : IPV6_BITS;
  clearAfter(bytes, prefixBits);
  return networkToText({ bytes, prefixBits });
}
