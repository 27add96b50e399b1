/**
 * Networks as a 16-byte address and a prefix length, to and from text; IPv4 as ::ffff:a.b.c.d with a prefix that is 96
 * bits longer (RFC 4632 section 3.1, RFC 4291 section 2.3).
 */
import { ADDRESS_SIZE, addressFromText, addressToText, isMappedIpv4 } from './ip.ts';

/** Bits before the four bytes of an IPv4 address. */
export const IPV4_PREFIX_BITS = 96;

/** A network; its host bits are zero. */
export interface Network {
  readonly bytes: Uint8Array;
  /** Prefix length, 0..128; at least 96 for an IPv4 network. */
  readonly prefixBits: number;
}

/**
 * The network of `address/length`; bits after the prefix are cleared. An address without a length is a network of one
 * address. Null for other text.
 */
export function networkFromText(text: string): Network | null {
  const parts = text.split('/');
  if (parts.length > 2 || text.includes('%')) return null;
  const bytes = addressFromText(parts[0]!);
  if (bytes === null) return null;
  const isDotted = !parts[0]!.includes(':');
  const bits = isDotted ? 32 : 128;
  const length = parts[1] ?? String(bits);
  if (!/^(0|[1-9]\d{0,2})$/.test(length) || Number(length) > bits) return null;
  const prefixBits = Number(length) + (isDotted ? IPV4_PREFIX_BITS : 0);
  clearAfter(bytes, prefixBits);
  return { bytes, prefixBits };
}

/** Text of a network, its address as in `addressToText`. */
export function networkToText(network: Network): string {
  const { bytes, prefixBits } = network;
  return `${addressToText(bytes)}/${isIpv4Network(network) ? prefixBits - IPV4_PREFIX_BITS : prefixBits}`;
}

/** Whether all addresses of the network are IPv4. */
export function isIpv4Network({ bytes, prefixBits }: Network): boolean {
  return prefixBits >= IPV4_PREFIX_BITS && isMappedIpv4(bytes);
}

/** Whether a network contains the 16-byte address at `at`. */
export function networkContains({ bytes, prefixBits }: Network, address: Uint8Array, at = 0): boolean {
  const whole = prefixBits >>> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== address[at + i]) return false;
  if (whole === ADDRESS_SIZE) return true;
  return ((bytes[whole]! ^ address[at + whole]!) & (0xff00 >>> (prefixBits & 7)) & 0xff) === 0;
}

/** Clears all bits of 16 bytes except the first `prefixBits`. */
export function clearAfter(bytes: Uint8Array, prefixBits: number): void {
  const whole = prefixBits >>> 3;
  if (whole === ADDRESS_SIZE) return;
  bytes[whole]! &= 0xff00 >>> (prefixBits & 7);
  bytes.fill(0, whole + 1);
}

/** The masks of the four words of an address (`addressWord()`) for a prefix of this many of its 128 bits. */
export function masksOf(prefixBits: number): Int32Array {
  return Int32Array.from({ length: 4 }, (_, i) => {
    const own = Math.min(32, Math.max(0, prefixBits - i * 32));
    return own === 0 ? 0 : -1 << (32 - own);
  });
}
