/**
 * Reverse zones: the names under which the addresses of a network have their PTR records (RFC 1035 section
 * 3.5 for IPv4, RFC 3596 section 2.5 for IPv6). Networks that end within an octet or nibble take several.
 */
import { ADDRESS_SIZE, addressFromText, addressToText, isMappedIpv4 } from './ip.ts';

/** Bits of an IPv4 address's prefix among the 128 of an address. */
const MAPPED_BITS = 96;

/** A network, its host bits cleared. */
export interface Network {
  readonly isIpv4: boolean;
  /** 16 bytes, IPv4 mapped. */
  readonly address: Uint8Array;
  /** 0..32 for IPv4, 0..128 for IPv6. */
  readonly prefix: number;
}

/** Parses `192.0.2.0/24` or `2001:db8::/32`; null for anything else, a single address included. */
export function networkFromText(text: string): Network | null {
  const match = /^([0-9a-fA-F:.]+)\/(\d{1,3})$/.exec(text.trim());
  const address = match === null ? null : addressFromText(match[1]!);
  if (match === null || address === null) return null;
  const isIpv4 = !match[1]!.includes(':');
  const prefix = Number(match[2]);
  if (prefix > (isIpv4 ? 32 : 128)) return null;
  const bits = isIpv4 ? MAPPED_BITS + prefix : prefix;
  for (let bit = bits; bit < ADDRESS_SIZE * 8; bit++) address[bit >>> 3]! &= ~(0x80 >>> (bit & 7));
  return { isIpv4, address, prefix };
}

/** `192.0.2.0/24`, in the one spelling that each network has. */
export function networkToText({ address, prefix, isIpv4 }: Network): string {
  const text = addressToText(address);
  // A mapped prefix would be printed as if it were IPv4.
  return !isIpv4 && isMappedIpv4(address) ? `::ffff:${text}/${prefix}` : `${text}/${prefix}`;
}

/** The reverse zones of a network, without final dots: one where it ends with an octet or nibble, at most 128. */
export function reverseZonesOf({ isIpv4, address, prefix }: Network): string[] {
  const unit = isIpv4 ? 8 : 4;
  const digits = isIpv4
    ? [...address.subarray(12)]
    : [...address].flatMap((byte) => [byte >>> 4, byte & 0xf]);
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

/** Networks whose addresses mean something on the local network only, and so their reverse zones (RFC 6303). */
export const PRIVATE_NETWORKS: readonly string[] = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  'fc00::/7',
  'fe80::/10',
];
