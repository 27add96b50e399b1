/**
 * NAT64 prefixes of a network (RFC 6052 section 2.2), found in the addresses of `ipv4only.arpa` (RFC 7050). An address
 * with such a prefix may look private although the IPv4 address in it is public.
 */
import { RRType } from '../../shared/dns/iana.ts';
import { Record, readU16, skipName } from '../../shared/dns/wire.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';

const IPV6_SIZE = 16;
/** Offset of bits 64 to 71, which are zero unless the prefix has 96 bits. */
const RESERVED_AT = 8;
/** The addresses of ipv4only.arpa: 192.0.0.170 and 192.0.0.171. */
const WELL_KNOWN = [0xc000_00aa, 0xc000_00ab];
/**
 * Maximum number of prefixes, more than any network has; limits the cost that one answer can add to every later answer.
 */
const MAX_PREFIXES = 8;

/** Positions of the four bytes of the IPv4 address, by length of the prefix in bytes. */
const IPV4_AT: Readonly<Record<number, readonly [number, number, number, number]>> = {
  12: [12, 13, 14, 15],
  8: [9, 10, 11, 12],
  7: [7, 9, 10, 11],
  6: [6, 7, 9, 10],
  5: [5, 6, 7, 9],
  4: [4, 5, 6, 7],
};
const LENGTHS = [12, 8, 7, 6, 5, 4];

/** A prefix of 32, 40, 48, 56, 64 or 96 bits. */
export interface Nat64Prefix {
  readonly bytes: Uint8Array;
  /** Offsets of the IPv4 address in an IPv6 address. */
  readonly ipv4At: readonly [number, number, number, number];
}

export const NO_PREFIXES: readonly Nat64Prefix[] = [];

/** The prefixes in an answer to `ipv4only.arpa AAAA`; none without NAT64. */
export function prefixesIn({
  body,
  answerCount,
}: Pick<CacheableAnswer, 'body' | 'answerCount'>): Nat64Prefix[] {
  const found = new Map<string, Nat64Prefix>();
  let at = 0;
  for (let left = answerCount; left > 0 && found.size < MAX_PREFIXES; left--) {
    const fields = skipName(body, at, body.length);
    const rdata = fields + Record.RDATA;
    at = rdata + readU16(body, fields + Record.RDLENGTH);
    if (readU16(body, fields + Record.TYPE) !== RRType.AAAA || at - rdata !== IPV6_SIZE) continue;
    const prefix = prefixOf(body.slice(rdata, at));
    if (prefix !== null) found.set(Buffer.from(prefix.bytes).toString('hex'), prefix);
  }
  return [...found.values()];
}

/** The IPv4 address at `at` as a u32 if one of the prefixes precedes it; -1 if not. */
export function embeddedIpv4(bytes: Uint8Array, at: number, prefixes: readonly Nat64Prefix[]): number {
  for (const prefix of prefixes)
    if (startsWith(bytes, at, prefix.bytes)) return ipv4Of(bytes, at, prefix.ipv4At);
  return -1;
}

function prefixOf(address: Uint8Array): Nat64Prefix | null {
  for (const length of LENGTHS) {
    const ipv4At = IPV4_AT[length]!;
    if (!WELL_KNOWN.includes(ipv4Of(address, 0, ipv4At))) continue;
    const rest = address.filter((_, place) => place >= length && !ipv4At.includes(place));
    if (rest.every((byte) => byte === 0)) return { bytes: address.slice(0, length), ipv4At };
  }
  return null;
}

function startsWith(bytes: Uint8Array, at: number, prefix: Uint8Array): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return prefix.length > RESERVED_AT || bytes[at + RESERVED_AT] === 0;
}

function ipv4Of(
  bytes: Uint8Array,
  at: number,
  [first, second, third, fourth]: Nat64Prefix['ipv4At'],
): number {
  return (
    ((bytes[at + first]! << 24) |
      (bytes[at + second]! << 16) |
      (bytes[at + third]! << 8) |
      bytes[at + fourth]!) >>>
    0
  );
}
