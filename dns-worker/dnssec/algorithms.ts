/**
 * The signature algorithms that Weir supports (IANA registry "DNS Security Algorithm Numbers"), and the conversion of
 * their keys for node:crypto. A zone that uses only missing or untrusted algorithms is insecure, never bogus (RFC 4035
 * section 5.2).
 */
import { createPublicKey, type KeyObject } from 'node:crypto';

/** A signature algorithm. */
interface Algorithm {
  /** Digest that is signed; null = the algorithm defines it. */
  readonly digest: 'sha1' | 'sha256' | 'sha384' | 'sha512' | null;
  /** False = signatures of this algorithm are ignored. */
  readonly trusted: boolean;
  readonly signatureEncoding?: 'ieee-p1363';
  readonly readKey: (octets: Uint8Array) => KeyObject | null;
}

/**
 * Size limits of the modulus. RFC 5702 section 2.1 allows 512 to 4096 bits; a 512-bit key can be factored, but the zone
 * chose it. Keys above the maximum would only make validation slower.
 */
const RSA_MIN_BYTES = 64;
const RSA_MAX_BYTES = 512;
/** Maximum exponent length. The usual exponents F4 and F5 take 3 and 5 bytes; longer exponents only cost time. */
const RSA_MAX_EXPONENT_BYTES = 5;

const rsa = (digest: Algorithm['digest'], trusted = true): Algorithm => ({
  digest,
  trusted,
  readKey: readRsaKey,
});

const ecdsa = (digest: Algorithm['digest'], curve: string, size: number): Algorithm => ({
  digest,
  trusted: true,
  signatureEncoding: 'ieee-p1363',
  readKey: (octets) => {
    if (octets.length !== 2 * size) return null;
    const [x, y] = [base64url(octets.subarray(0, size)), base64url(octets.subarray(size))];
    return importKey({ kty: 'EC', crv: curve, x, y });
  },
});

const eddsa = (curve: string, size: number): Algorithm => ({
  digest: null,
  trusted: true,
  readKey: (octets) =>
    octets.length === size ? importKey({ kty: 'OKP', crv: curve, x: base64url(octets) }) : null,
});

/** RFC 9905: RSASHA1 and RSASHA1-NSEC3-SHA1 are treated as unknown. */
const ALGORITHMS: ReadonlyMap<number, Algorithm> = new Map([
  [5, rsa('sha1', false)],
  [7, rsa('sha1', false)],
  [8, rsa('sha256')],
  [10, rsa('sha512')],
  [13, ecdsa('sha256', 'P-256', 32)],
  [14, ecdsa('sha384', 'P-384', 48)],
  [15, eddsa('Ed25519', 32)],
  [16, eddsa('Ed448', 57)],
]);

/** The algorithm with this number, trusted or not; undefined = unknown. */
export function algorithmOf(number: number): Algorithm | undefined {
  return ALGORITHMS.get(number);
}

/** Whether Weir accepts signatures of this algorithm as proof. */
export function isTrustedAlgorithm(number: number): boolean {
  return ALGORITHMS.get(number)?.trusted === true;
}

/** RFC 3110 section 2: the exponent after its length in one or three octets, then the modulus. */
function readRsaKey(octets: Uint8Array): KeyObject | null {
  const isLong = octets[0] === 0;
  const length = isLong ? (octets[1]! << 8) | octets[2]! : octets[0]!;
  const from = isLong ? 3 : 1;
  const exponent = octets.subarray(from, from + length);
  const modulus = octets.subarray(from + length);
  if (exponent.length !== length || length === 0 || length > RSA_MAX_EXPONENT_BYTES) return null;
  if (modulus[0] === 0 || modulus.length < RSA_MIN_BYTES || modulus.length > RSA_MAX_BYTES) return null;
  // An exponent that is even or 1 is not a valid RSA exponent.
  if ((exponent.at(-1)! & 1) === 0 || (length === 1 && exponent[0] === 1)) return null;
  return importKey({ kty: 'RSA', n: base64url(modulus), e: base64url(exponent) });
}

function base64url(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('base64url');
}

/** Imports a key; null if OpenSSL rejects it, for example because a point is not on the curve. */
function importKey(jwk: Record<string, string>): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return null;
  }
}
