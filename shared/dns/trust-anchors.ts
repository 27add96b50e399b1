/**
 * DNSSEC trust anchors: the root's keys as published by IANA, and a parser for other anchors in presentation form (DS
 * and DNSKEY records, RFC 4034 sections 2.2 and 5.3). The control plane reads the file; the worker validates.
 */
import { RRType } from './iana.ts';
import { nameFromText } from './name.ts';

/** One DS or DNSKEY record that is trusted without proof. */
export interface TrustAnchor {
  /** Name of the zone in lower-case wire form. */
  readonly zone: Uint8Array;
  /** `RRType.DS` or `RRType.DNSKEY`. */
  readonly type: number;
  readonly rdata: Uint8Array;
}

/** The DNSKEY RRset of a zone with trust anchors, and the result of checking its signatures (RFC 5011 section 2). */
export interface TrustPointKeys {
  /** Whether a currently trusted key has signed the RRset. */
  readonly isTrusted: boolean;
  readonly keys: readonly {
    readonly rdata: Uint8Array;
    /** Whether the key has the revoke bit and has signed its own revocation. */
    readonly isRevoked: boolean;
  }[];
  /** The smallest original TTL of the signatures. */
  readonly originalTtlSecs: number;
  /** Seconds until the first of the signatures expires. */
  readonly expiresInSecs: number;
}

/** Error in a line of a trust-anchor file. */
export class TrustAnchorError extends Error {
  constructor(line: string, reason: string) {
    super(`could not read a trust anchor: ${reason}: ${line}`);
    this.name = 'TrustAnchorError';
  }
}

/** The root's key-signing keys of 2017 and 2024 (https://data.iana.org/root-anchors/root-anchors.xml). */
const ROOT_ANCHORS = `
. IN DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D
. IN DS 38696 8 2 683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16
`;

/** The built-in anchors. */
export function rootTrustAnchors(): TrustAnchor[] {
  return readTrustAnchors(ROOT_ANCHORS);
}

/** Reads a file of DS and DNSKEY records; throws a TrustAnchorError for other text, and for an empty file. */
export function readTrustAnchors(text: string): TrustAnchor[] {
  const anchors = entries(text).map(readEntry);
  if (anchors.length === 0) throw new TrustAnchorError('', 'it contains no DS or DNSKEY records');
  return anchors;
}

/** Records, one per line: removes comments and joins the lines within parentheses (RFC 1035 section 5.1). */
function entries(text: string): string[] {
  const plain = text.replaceAll(/;[^\n]*/g, '');
  const joined = plain.replaceAll(/\(([^)]*)\)/g, (_, inside: string) => inside.replaceAll(/\s+/g, ' '));
  return joined
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Maximum values of the three numbers: key tag or flags, algorithm or protocol, digest type or algorithm. */
const LIMITS: readonly number[] = [0xffff, 0xff, 0xff];

function readEntry(line: string): TrustAnchor {
  const fields = line.split(/\s+/);
  const zone = nameFromText(fields.shift()!);
  if (zone === null) throw new TrustAnchorError(line, 'the owner is not a name');
  while (fields.length > 0 && /^(\d+|IN)$/i.test(fields[0]!)) fields.shift();
  const type = fields.shift()?.toUpperCase();
  if (type !== 'DS' && type !== 'DNSKEY') throw new TrustAnchorError(line, 'neither DS nor DNSKEY');
  const [first, second, third, ...data] = fields;
  const numbers = [first, second, third].map(Number);
  if (numbers.some((number, i) => !Number.isInteger(number) || number < 0 || number > LIMITS[i]!))
    throw new TrustAnchorError(line, 'a number is missing or out of range');
  const [a, b, c] = numbers as [number, number, number];
  const bytes = readData(data.join(''), type === 'DS' ? 'hex' : 'base64');
  if (bytes === null) throw new TrustAnchorError(line, 'the digest or key cannot be read');
  return { zone, type: RRType[type], rdata: Uint8Array.from([a >>> 8, a & 0xff, b, c, ...bytes]) };
}

function readData(text: string, encoding: 'hex' | 'base64'): Buffer | null {
  const pattern = encoding === 'hex' ? /^([0-9a-f]{2})+$/i : /^[0-9a-z+/]+=*$/i;
  return pattern.test(text) ? Buffer.from(text, encoding) : null;
}
