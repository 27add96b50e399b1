/**
 * Fields of the RDATA of a DNSKEY record that both planes read: flags, tag, and whether a trust anchor matches the key.
 * `dns-worker/dnssec/` checks signatures.
 */
import { hash } from 'node:crypto';
import { RRType } from './iana.ts';
import type { TrustAnchor } from './trust-anchors.ts';
import { readU16, writeU16 } from './wire.ts';

/** Bits of a key's flags: zone key, secure entry point (RFC 4034 section 2.1.1), revoked (RFC 5011 section 2.1). */
export const KeyFlags = { ZONE: 0x0100, REVOKE: 0x0080, ENTRY_POINT: 0x0001 } as const;

/** Size of a DNSKEY before the key, and of a DS before the digest. */
export const KEY_FIXED_SIZE = 4;

/** Digests of DS records: number to name and length in bytes. The numbers: SHA-1 is 1, SHA-256 is 2, SHA-384 is 4. */
const DIGESTS: ReadonlyMap<number, { readonly name: string; readonly length: number }> = new Map([
  [1, { name: 'sha1', length: 20 }],
  [2, { name: 'sha256', length: 32 }],
  [4, { name: 'sha384', length: 48 }],
]);

/** The digest with this number; undefined = unknown. */
export function digestOf(number: number): { readonly name: string; readonly length: number } | undefined {
  return DIGESTS.get(number);
}

/**
 * The key tag (RFC 4034 appendix B): a checksum, not a cryptographic hash, so several keys may have the same tag.
 * Algorithm 1 (appendix B.1) is not supported.
 */
export function keyTag(rdata: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < rdata.length; i++) sum += (i & 1) === 0 ? rdata[i]! << 8 : rdata[i]!;
  return (sum + (sum >>> 16)) & 0xffff;
}

/** The key without the revocation bit; this bit is part of the key's tag and digest. */
export function withoutRevocation(rdata: Uint8Array): Uint8Array {
  const copy = rdata.slice();
  writeU16(copy, 0, readU16(rdata, 0) & ~KeyFlags.REVOKE);
  return copy;
}

/** Whether a trust anchor is this key of its zone, or the digest of this key (RFC 4034 section 5.1.4). */
export function isAnchorOf(anchor: TrustAnchor, rdata: Uint8Array): boolean {
  if (anchor.type === RRType.DNSKEY) return Buffer.compare(anchor.rdata, rdata) === 0;
  const digest = digestOf(anchor.rdata[3] ?? 0);
  if (digest === undefined || readU16(anchor.rdata, 0) !== keyTag(rdata)) return false;
  const found = hash(digest.name, Buffer.concat([anchor.zone, rdata]), 'buffer');
  return found.equals(anchor.rdata.subarray(KEY_FIXED_SIZE));
}
