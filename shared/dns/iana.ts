/** DNS parameters of the IANA registries that Weir uses (RFC 6895). */

/** Types of resource records and queries. */
export const RRType = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  SIG: 24,
  KEY: 25,
  AAAA: 28,
  LOC: 29,
  SRV: 33,
  NAPTR: 35,
  KX: 36,
  CERT: 37,
  DNAME: 39,
  OPT: 41,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  HIP: 55,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  EUI48: 108,
  EUI64: 109,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  URI: 256,
  CAA: 257,
} as const;
export type RRTypeName = keyof typeof RRType;

const RR_TYPE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(RRType).map(([name, code]) => [code, name]),
);

/** The mnemonic of a type, or `TYPE65280` for a type without one (RFC 3597 section 5). */
export function rrTypeName(code: number): string {
  return RR_TYPE_NAMES.get(code) ?? `TYPE${String(code)}`;
}

/** The code of a mnemonic or `TYPEnnn` in any case; undefined for other texts. */
export function rrTypeCode(name: string): number | undefined {
  const upper = name.toUpperCase();
  if (Object.hasOwn(RRType, upper)) return RRType[upper as RRTypeName];
  const generic = /^TYPE(\d{1,5})$/.exec(upper);
  const code = generic === null ? NaN : Number(generic[1]);
  return code <= 0xffff ? code : undefined;
}

/** Classes of records and queries. */
export const RRClass = { IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 } as const;

/** Opcodes of messages. */
export const Opcode = { QUERY: 0, IQUERY: 1, STATUS: 2, NOTIFY: 4, UPDATE: 5 } as const;

/** Response codes; codes over 15 need an OPT record (RFC 6891 section 6.1.3). */
export const Rcode = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  BADVERS: 16,
  BADCOOKIE: 23,
} as const;

const RCODE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(Rcode).map(([name, code]) => [code, name]),
);

/** The mnemonic of an rcode, or `RCODEnn`. */
export function rcodeName(code: number): string {
  return RCODE_NAMES.get(code) ?? `RCODE${String(code)}`;
}

/** Extended DNS errors (RFC 8914 section 4). */
export const ExtendedError = {
  OTHER: 0,
  STALE_ANSWER: 3,
  FORGED_ANSWER: 4,
  DNSSEC_INDETERMINATE: 5,
  DNSSEC_BOGUS: 6,
  SIGNATURE_EXPIRED: 7,
  SIGNATURE_NOT_YET_VALID: 8,
  DNSKEY_MISSING: 9,
  RRSIGS_MISSING: 10,
  NO_ZONE_KEY_BIT_SET: 11,
  NSEC_MISSING: 12,
  CACHED_ERROR: 13,
  NOT_READY: 14,
  BLOCKED: 15,
  CENSORED: 16,
  FILTERED: 17,
  PROHIBITED: 18,
  STALE_NXDOMAIN_ANSWER: 19,
  NOT_AUTHORITATIVE: 20,
  NOT_SUPPORTED: 21,
  NO_REACHABLE_AUTHORITY: 22,
  NETWORK_ERROR: 23,
  INVALID_DATA: 24,
} as const;

/** EDNS options (RFC 6891 section 6.1.2 and the registry). */
export const EdnsOption = {
  NSID: 3,
  ECS: 8,
  COOKIE: 10,
  TCP_KEEPALIVE: 11,
  PADDING: 12,
  EDE: 15,
} as const;
