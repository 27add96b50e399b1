/** DNSKEY and DS records: their fields, the key tag, and whether a DS matches a key (RFC 4034 sections 2 and 5). */
import { createHash, type VerifyKeyObjectInput } from 'node:crypto';
import { digestOf, KEY_FIXED_SIZE, KeyFlags, keyTag } from '../../shared/dns/dnskey-rdata.ts';
import { readU16 } from '../../shared/dns/wire.ts';
import { algorithmOf, isTrustedAlgorithm } from './algorithms.ts';
import type { Name } from './names.ts';

const PROTOCOL_DNSSEC = 3;

/** A zone's public key. */
export class Dnskey {
  readonly rdata: Uint8Array;
  readonly flags: number;
  readonly protocol: number;
  readonly algorithm: number;
  readonly tag: number;
  /**
   * The key for node:crypto: undefined until it is first needed; null = the bytes are not a valid key of that
   * algorithm.
   */
  private input: VerifyKeyObjectInput | null | undefined = undefined;

  private constructor(rdata: Uint8Array) {
    // Copy the RDATA: keys are kept longer than the message that contained them.
    this.rdata = rdata.slice();
    this.flags = readU16(rdata, 0);
    this.protocol = rdata[2]!;
    this.algorithm = rdata[3]!;
    this.tag = keyTag(rdata);
  }

  /** Reads a key from RDATA; null if the RDATA is too short. */
  static read(rdata: Uint8Array): Dnskey | null {
    return rdata.length > KEY_FIXED_SIZE ? new Dnskey(rdata) : null;
  }

  /** Whether the key may sign a zone's data (RFC 4034 sections 2.1.1 and 2.1.2) and is not revoked. */
  get isZoneKey(): boolean {
    return (
      (this.flags & KeyFlags.ZONE) !== 0 &&
      (this.flags & KeyFlags.REVOKE) === 0 &&
      this.protocol === PROTOCOL_DNSSEC
    );
  }

  /** Whether the zone has revoked the key (RFC 5011 section 2.1). */
  get isRevoked(): boolean {
    return (this.flags & (KeyFlags.ZONE | KeyFlags.REVOKE)) === (KeyFlags.ZONE | KeyFlags.REVOKE);
  }

  /** Whether the flags lack the zone-key bit. */
  get lacksZoneBit(): boolean {
    return (this.flags & KeyFlags.ZONE) === 0;
  }

  /** The key for node:crypto; null if the bytes are not a valid key of the algorithm. */
  get verifyInput(): VerifyKeyObjectInput | null {
    if (this.input === undefined) this.input = this.readInput();
    return this.input;
  }

  private readInput(): VerifyKeyObjectInput | null {
    const algorithm = algorithmOf(this.algorithm);
    const key = algorithm?.readKey(this.rdata.subarray(KEY_FIXED_SIZE)) ?? null;
    if (key === null) return null;
    const encoding = algorithm?.signatureEncoding;
    return encoding === undefined ? { key } : { key, dsaEncoding: encoding };
  }
}

/** A parent's digest of a child's key. */
export interface Ds {
  readonly tag: number;
  readonly algorithm: number;
  readonly digestType: number;
  readonly digest: Uint8Array;
}

/** Reads a DS from RDATA; null if the RDATA is too short. */
export function readDs(rdata: Uint8Array): Ds | null {
  if (rdata.length <= KEY_FIXED_SIZE) return null;
  return {
    tag: readU16(rdata, 0),
    algorithm: rdata[2]!,
    digestType: rdata[3]!,
    digest: rdata.subarray(KEY_FIXED_SIZE),
  };
}

/**
 * The usable DS records: algorithm and digest are known and trusted; SHA-1 only if there is no better digest (RFC 4509
 * section 3). Empty = the zone is insecure (RFC 4035 section 5.2).
 */
export function usableDs(all: readonly Ds[]): Ds[] {
  const known = all.filter((ds) => isTrustedAlgorithm(ds.algorithm) && digestOf(ds.digestType) !== undefined);
  const better = known.filter((ds) => ds.digestType !== 1);
  return better.length > 0 ? better : known;
}

/** Whether the DS is the digest of the key of this zone (RFC 4034 section 5.1.4). */
export function digestMatches(ds: Ds, zone: Name, key: Dnskey): boolean {
  const digest = digestOf(ds.digestType);
  if (digest?.length !== ds.digest.length) return false;
  return createHash(digest.name).update(zone).update(key.rdata).digest().equals(ds.digest);
}
