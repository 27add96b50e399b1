/**
 * Reverse zones: the names under which the addresses of a network have their PTR records (RFC 1035 section 3.5 for
 * IPv4, RFC 3596 section 2.5 for IPv6). A network whose prefix ends within an octet or nibble has several reverse
 * zones.
 */
import { IPV4_PREFIX_BITS, isIpv4Network, type Network } from './cidr.ts';

/**
 * The reverse zones of a network, without final dots: one zone if the prefix ends at a byte or nibble, and at most 128
 * zones if not.
 */
export function reverseZonesOf(network: Network): string[] {
  const { bytes, prefixBits } = network;
  const isIpv4 = isIpv4Network(network);
  const prefix = isIpv4 ? prefixBits - IPV4_PREFIX_BITS : prefixBits;
  const unit = isIpv4 ? 8 : 4;
  const digits = isIpv4 ? [...bytes.subarray(12)] : [...bytes].flatMap((byte) => [byte >>> 4, byte & 0xf]);
  const whole = Math.floor(prefix / unit);
  const suffix = isIpv4 ? 'in-addr.arpa' : 'ip6.arpa';
  const base = isIpv4 ? 10 : 16;
  const nameOf = (parts: readonly number[]): string =>
    [...parts.toReversed().map((part) => part.toString(base)), suffix].join('.');
  const known = digits.slice(0, whole);
  const spare = whole * unit === prefix ? 0 : unit - (prefix - whole * unit);
  if (spare === 0) return [nameOf(known)];
  return Array.from({ length: 1 << spare }, (_, i) => nameOf([...known, digits[whole]! + i]));
}

/** Networks whose addresses are valid on the local network only, so that their reverse zones are private (RFC 6303). */
export const PRIVATE_NETWORKS: readonly string[] = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  'fc00::/7',
  'fe80::/10',
];
