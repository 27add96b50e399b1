/**
 * Checks that RDATA has the form of its type, for every type whose layout Weir knows, because clients would reject a
 * reply with malformed RDATA. Names are uncompressed here: names that may be compressed in a message
 * (`rdata-layout.ts`) have already been expanded, and in later types names are never compressed (RFC 3597 section 4).
 */
import { RRClass, RRType } from '../../../shared/dns/iana.ts';
import { readU16, readU32 } from '../../../shared/dns/wire.ts';
import { isServiceParameters } from './service-parameters.ts';

/** A part of RDATA: the function returns the offset after this part, or -1 if it does not fit before `end`. */
type Field = (octets: Uint8Array, at: number, end: number) => number;

const MAX_NAME_SIZE = 255;
const MAX_LABEL_SIZE = 63;
const MAX_BITMAP_SIZE = 32;

const size =
  (count: number): Field =>
  (_octets, at, end) =>
    at + count <= end ? at + count : -1;

const atLeast =
  (count: number): Field =>
  (_octets, at, end) =>
    end - at >= count ? end : -1;

/** An uncompressed name (RFC 1035 section 3.1). */
const name: Field = (octets, at, end) => {
  for (let offset = at; offset < end;) {
    const label = octets[offset]!;
    offset += label + 1;
    if (label > MAX_LABEL_SIZE || offset - at > MAX_NAME_SIZE || offset > end) return -1;
    if (label === 0) return offset;
  }
  return -1;
};

/** A length byte, then as many bytes as it gives, at least `min`. */
const counted =
  (min: number): Field =>
  (octets, at, end) => {
    const length = at < end ? octets[at]! : -1;
    return length >= min && at + 1 + length <= end ? at + 1 + length : -1;
  };

const string = counted(0);

/** Applies a form repeatedly until the end of the RDATA. */
const repeated =
  (field: Field): Field =>
  (octets, at, end) => {
    let offset = at;
    while (offset >= 0 && offset < end) offset = field(octets, offset, end);
    return offset;
  };

/**
 * A type bitmap (RFC 4034 section 4.1.2): windows in order, each with 1 to 32 octets, the last of which is not zero.
 */
const bitmap: Field = (octets, at, end) => {
  let before = -1;
  for (let offset = at; offset < end;) {
    const window = octets[offset]!;
    const length = offset + 1 < end ? octets[offset + 1]! : 0;
    offset += 2 + length;
    if (window <= before || length < 1 || length > MAX_BITMAP_SIZE || offset > end) return -1;
    if (octets[offset - 1] === 0) return -1;
    before = window;
  }
  return end;
};

const filledBitmap: Field = (octets, at, end) => (at < end ? bitmap(octets, at, end) : -1);

/** An algorithm byte, then a digest with the length that `sizes` has for the algorithm, or at least one byte. */
const digest =
  (sizes: Readonly<Record<number, number>>): Field =>
  (octets, at, end) => {
    const expected = at < end ? sizes[octets[at]!] : undefined;
    const length = end - at - 1;
    return length >= 1 && (expected === undefined || expected === length) ? end : -1;
  };

/** Forms of a gateway by gateway type: none, IPv4, IPv6, a name (RFC 4025 section 2.3, RFC 8777 section 4.2.3). */
const GATEWAYS: readonly Field[] = [size(0), size(4), size(16), name];

/** An IPSECKEY record (RFC 4025 section 2): only algorithm 0 has no key. */
const ipsecKey: Field = (octets, at, end) => {
  if (at + 3 > end) return -1;
  const gateway = GATEWAYS[octets[at + 1]!];
  const next = gateway === undefined ? -1 : gateway(octets, at + 3, end);
  return next < 0 || (next === end && octets[at + 2] !== 0) ? -1 : end;
};

const relay: Field = (octets, at, end) => {
  if (at + 2 > end) return -1;
  const gateway = GATEWAYS[octets[at + 1]! & 0x7f] ?? atLeast(0);
  return gateway(octets, at + 2, end);
};

/** A KEY record (RFC 2535 section 3.1.2): flags may indicate that it contains no key. */
const legacyKey: Field = (octets, at, end) => {
  const isWithout = at < end && octets[at]! >= 0xc0;
  return isWithout ? size(4)(octets, at, end) : atLeast(5)(octets, at, end);
};

/** A HIP record (RFC 8005 section 5): first the lengths of tag and key, last the rendezvous servers. */
const hostIdentity: Field = (octets, at, end) => {
  if (at + 4 > end) return -1;
  const [tag, key] = [octets[at]!, readU16(octets, at + 2)];
  const servers = at + 4 + tag + key;
  return tag === 0 || key === 0 || servers > end ? -1 : repeated(name)(octets, servers, end);
};

/** An item of an APL record (RFC 3123 section 4): the address has no trailing zeros. */
const addressPrefix: Field = (octets, at, end) => {
  if (at + 4 > end) return -1;
  const family = readU16(octets, at);
  const [prefix, length] = [octets[at + 2]!, octets[at + 3]! & 0x7f];
  const next = at + 4 + length;
  const bits = family === 1 ? 32 : family === 2 ? 128 : Infinity;
  if (next > end || prefix > bits || length * 8 > bits) return -1;
  return length > 0 && octets[next - 1] === 0 ? -1 : next;
};

/** Whether a length in centimetres is out of range: its mantissa and exponent must each be one decimal digit. */
function isOutOfRange(centimetres: number): boolean {
  const [mantissa, exponent] = [centimetres >> 4, centimetres & 0xf];
  return mantissa > 9 || exponent > 9 || (mantissa === 0 && exponent > 0);
}

/** A LOC record (RFC 1876 section 2); the form of other versions is unknown. */
const location: Field = (octets, at, end) => {
  if (at >= end) return -1;
  if (octets[at] !== 0) return end;
  if (at + 16 !== end) return -1;
  const sizes = octets.subarray(at + 1, at + 4);
  if (sizes.some(isOutOfRange)) return -1;
  const [latitude, longitude] = [4, 8].map((offset) => Math.abs(readU32(octets, at + offset) - 2 ** 31));
  return latitude! > 90 * 3_600_000 || longitude! > 180 * 3_600_000 ? -1 : end;
};

/** The tag of a CAA record (RFC 8659 section 4.1). */
const propertyTag: Field = (octets, at, end) => {
  const next = counted(1)(octets, at, end);
  for (let i = at + 1; i < next; i++) {
    const letter = octets[i]! | 0x20;
    if ((octets[i]! < 0x30 || octets[i]! > 0x39) && (letter < 0x61 || letter > 0x7a)) return -1;
  }
  return next;
};

const services: Field = (octets, at, end) => {
  const next = name(octets, at, end);
  return next >= 0 && isServiceParameters(octets, next, end) ? end : -1;
};

const text: readonly Field[] = [string, repeated(string)];
const key: readonly Field[] = [size(4), atLeast(1)];
/** A DS record (RFC 4034, RFC 4509, RFC 6605). */
const delegation: readonly Field[] = [size(3), digest({ 1: 20, 2: 32, 4: 48 })];
const certificate: readonly Field[] = [size(3), atLeast(1)];

/** Forms by type. Types without a constant here: X25 19, ISDN 20, GPOS 27, NINFO 56, RKEY 57, TALINK 58, SPF 99, ... */
const FORMS: readonly (readonly [number, readonly Field[]])[] = [
  [RRType.HINFO, [string, string]],
  [RRType.TXT, text],
  [19, [string]],
  [20, [string, repeated(string)]],
  [RRType.SIG, [size(18), name, atLeast(1)]],
  [RRType.KEY, [legacyKey]],
  [27, [string, string, string]],
  [RRType.LOC, [location]],
  [30, [name, atLeast(0)]],
  [RRType.CERT, [size(5), atLeast(1)]],
  [RRType.DS, delegation],
  [RRType.SSHFP, [size(1), digest({ 1: 20, 2: 32 })]],
  [RRType.IPSECKEY, [ipsecKey]],
  [RRType.RRSIG, [size(18), name, atLeast(1)]],
  [RRType.NSEC, [name, filledBitmap]],
  [RRType.DNSKEY, key],
  [RRType.NSEC3, [size(4), string, counted(1), bitmap]],
  [RRType.NSEC3PARAM, [size(4), string]],
  [RRType.TLSA, certificate],
  [RRType.SMIMEA, certificate],
  [RRType.HIP, [hostIdentity]],
  [56, text],
  [57, key],
  [58, [name, name]],
  [RRType.CDS, delegation],
  [RRType.CDNSKEY, key],
  [RRType.OPENPGPKEY, [atLeast(1)]],
  [RRType.CSYNC, [size(6), bitmap]],
  [RRType.ZONEMD, [size(5), digest({ 1: 48, 2: 64 })]],
  [99, text],
  [104, [size(10)]],
  [105, [size(6)]],
  [106, [size(10)]],
  [107, [size(2), name]],
  [RRType.EUI48, [size(6)]],
  [RRType.EUI64, [size(8)]],
  [RRType.URI, [size(4), atLeast(0)]],
  [RRType.CAA, [size(1), propertyTag, atLeast(0)]],
  [258, text],
  [259, [size(9), string, atLeast(0)]],
  [260, [relay]],
  [261, text],
  [262, text],
  [32_768, delegation],
  [32_769, delegation],
];

/** Types that are defined for class IN only. */
const INTERNET_FORMS: readonly (readonly [number, readonly Field[]])[] = [
  [RRType.A, [size(4)]],
  [11, [size(5), atLeast(0)]],
  [22, [atLeast(1)]],
  [23, [name]],
  [RRType.AAAA, [size(16)]],
  [RRType.APL, [repeated(addressPrefix)]],
  [RRType.DHCID, [atLeast(1)]],
  [RRType.SVCB, [size(2), services]],
  [RRType.HTTPS, [size(2), services]],
];

const BY_TYPE = new Map(FORMS);
const INTERNET_BY_TYPE = new Map(INTERNET_FORMS);

/** Whether the RDATA from `at` to `end` has the form of its type; true for an unknown type. */
export function hasValidForm(
  type: number,
  rrClass: number,
  octets: Uint8Array,
  at: number,
  end: number,
): boolean {
  const form = BY_TYPE.get(type) ?? (rrClass === RRClass.IN ? INTERNET_BY_TYPE.get(type) : undefined);
  if (form === undefined) return true;
  let offset = at;
  for (const field of form) {
    offset = field(octets, offset, end);
    if (offset < 0) return false;
  }
  return offset === end;
}
