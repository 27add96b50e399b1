/** RRSIG records: their fields and their validity period (RFC 4034 section 3, RFC 4035 section 5.3.1). */
import { readU16, readU32 } from '../../shared/dns/wire.ts';
import { type Name, readPlainName } from './names.ts';

/** A signature over an RRset. */
export interface Rrsig {
  readonly typeCovered: number;
  readonly algorithm: number;
  /** Number of labels of the signed owner, without the root and a leading `*`. */
  readonly labels: number;
  readonly originalTtlSecs: number;
  /** Unix seconds modulo 2^32 (RFC 1982). */
  readonly expiration: number;
  readonly inception: number;
  readonly keyTag: number;
  /** Name of the signing zone, in lower case. */
  readonly signer: Name;
  /** The RDATA before the signer; the signed data starts with these bytes and the signer. */
  readonly fixed: Uint8Array;
  readonly signature: Uint8Array;
}

const FIXED_SIZE = 18;
const MIN_SKEW_SECS = 3600;
const MAX_SKEW_SECS = 86_400;

/** Reads an RRSIG from RDATA; null if it is malformed. */
export function readRrsig(rdata: Uint8Array): Rrsig | null {
  if (rdata.length < FIXED_SIZE) return null;
  const signer = readPlainName(rdata, FIXED_SIZE);
  if (signer === null) return null;
  return {
    typeCovered: readU16(rdata, 0),
    algorithm: rdata[2]!,
    labels: rdata[3]!,
    originalTtlSecs: readU32(rdata, 4),
    expiration: readU32(rdata, 8),
    inception: readU32(rdata, 12),
    keyTag: readU16(rdata, 16),
    signer,
    fixed: rdata.subarray(0, FIXED_SIZE),
    signature: rdata.subarray(FIXED_SIZE + signer.length),
  };
}

/** Seconds until the signature expires; negative if it has expired. Uses serial arithmetic (RFC 4034 section 3.1.5). */
export function secsLeft(rrsig: Rrsig, nowSecs: number): number {
  return (rrsig.expiration - nowSecs) | 0;
}

/**
 * The current time in Unix seconds; null if the clock is known to be wrong, so that validity periods cannot be checked.
 */
export type NowSecs = number | null;

/** Why the signature is not valid now; null = it is valid. Allows for inaccurate clocks. */
export function timeFault(rrsig: Rrsig, nowSecs: NowSecs): 'expired' | 'not-yet-valid' | null {
  const lifetimeSecs = (rrsig.expiration - rrsig.inception) | 0;
  if (lifetimeSecs < 0) return 'expired';
  if (nowSecs === null) return null;
  // Tolerated clock error: a tenth of the lifetime, at least an hour and at most a day, as in Unbound.
  const skewSecs = Math.min(Math.max(Math.floor(lifetimeSecs / 10), MIN_SKEW_SECS), MAX_SKEW_SECS);
  if (secsLeft(rrsig, nowSecs) < -skewSecs) return 'expired';
  return ((nowSecs - rrsig.inception) | 0) < -skewSecs ? 'not-yet-valid' : null;
}
