/**
 * The data of an ECS option (RFC 7871 section 6): family, source prefix, scope prefix, and as many bytes of the address
 * as the source prefix needs. This file only checks the form; it contains no policy.
 */
import { readU16 } from './wire.ts';

/** Byte offsets in the option's data. */
export const EcsData = {
  FAMILY: 0,
  SOURCE: 2,
  SCOPE: 3,
  ADDRESS: 4,
  /** Maximum size: a complete IPv6 address. */
  MAX_SIZE: 20,
} as const;

/** Maximum prefix length of an address family (1 = IPv4, 2 = IPv6), in bits; -1 = unknown family. */
export function longestPrefix(family: number): number {
  if (family === 1) return 32;
  return family === 2 ? 128 : -1;
}

/**
 * Whether the `length` bytes at `at` are valid in a query: a known family and prefix, an address exactly as long as the
 * prefix requires, scope 0. With an empty address, the family may also be 0, which some clients send to opt out.
 */
export function isQueryEcs(bytes: Uint8Array, at: number, length: number): boolean {
  if (length < EcsData.ADDRESS || bytes[at + EcsData.SCOPE] !== 0) return false;
  const family = readU16(bytes, at + EcsData.FAMILY);
  const source = bytes[at + EcsData.SOURCE]!;
  const longest = family === 0 ? 0 : longestPrefix(family);
  if (source > longest || length !== EcsData.ADDRESS + ((source + 7) >>> 3)) return false;
  // RFC 7871 section 6: bits after the prefix are 0.
  return (source & 7) === 0 || (bytes[at + length - 1]! & (0xff >>> (source & 7))) === 0;
}
