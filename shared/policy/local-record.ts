/**
 * Parses local records in the form that users write into names, types, canonical values and RDATA. The configuration,
 * the API and the snapshot builder use these functions, which are pure.
 */
import { RRType } from '../dns/iana.ts';
import { nameFromText } from '../dns/name.ts';
import { addressFromText, addressToText, isMappedIpv4 } from '../net/ip.ts';
import { canonicalDomainRule } from './domain-rule.ts';

/** Types that a local record may have. */
export const LOCAL_RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'PTR', 'MX', 'SRV'] as const;
export type LocalRecordType = (typeof LOCAL_RECORD_TYPES)[number];

/** TTL of a local record whose TTL is not given, in seconds. */
export const DEFAULT_LOCAL_TTL_SECS = 300;
/** Maximum TTL of a local record, in seconds: a week. */
export const MAX_LOCAL_TTL_SECS = 604_800;
/** Maximum length of a TXT record, in bytes. */
const MAX_TEXT_BYTES = 8192;
const MAX_STRING_BYTES = 255;

/** A valid value in canonical form and as RDATA, or a description of valid values. */
export type LocalValue =
  | { readonly ok: true; readonly value: string; readonly rdata: Uint8Array }
  | { readonly ok: false; readonly expected: string };

/** One record, in canonical form. */
export interface WrittenLocalRecord {
  readonly fqdn: string;
  readonly type: LocalRecordType;
  readonly value: string;
  readonly ttlSecs: number;
}

/**
 * The owner of a local record: a name, which may begin with `*.` to cover all its subdomains, or an address, which
 * stands for its reverse name. Null for other text.
 */
export function canonicalOwner(value: string): string | null {
  const trimmed = value.trim();
  const address = addressFromText(trimmed);
  return address === null ? canonicalDomainRule(trimmed) : reverseName(address);
}

/** The reverse name of a 16-byte address (RFC 1035 section 3.5, RFC 3596 section 2.5). */
export function reverseName(address: Uint8Array): string {
  if (isMappedIpv4(address)) return `${[...address.subarray(12)].reverse().join('.')}.in-addr.arpa`;
  const digits = Buffer.from(address).toString('hex');
  return `${digits.split('').reverse().join('.')}.ip6.arpa`;
}

/** Reads a value of a type; names in it become canonical. */
export function readLocalValue(type: LocalRecordType, value: string): LocalValue {
  switch (type) {
    case 'A':
    case 'AAAA':
      return readAddress(type, value);
    case 'CNAME':
    case 'PTR':
      return readFields(value, [], 'a domain name');
    case 'MX':
      return readFields(value, [0], 'a preference and a domain name, such as "10 mail.example.org"');
    case 'SRV':
      return readFields(
        value,
        [0, 0, 0],
        'priority, weight, port and a domain name, such as "0 5 5060 sip.example.org"',
      );
    case 'TXT':
      return readText(value);
  }
}

function readAddress(type: 'A' | 'AAAA', value: string): LocalValue {
  const expected = type === 'A' ? 'an IPv4 address' : 'an IPv6 address';
  const address = value.includes('%') ? null : addressFromText(value.trim());
  if (address === null || isMappedIpv4(address) !== (type === 'A')) return { ok: false, expected };
  return { ok: true, value: addressToText(address), rdata: type === 'A' ? address.slice(12) : address };
}

/** Reads 16-bit numbers, then a name. */
function readFields(value: string, numbers: readonly number[], expected: string): LocalValue {
  const words = value.trim().split(/\s+/u);
  const name = canonicalDomainRule(words.at(-1) ?? '');
  const leading = words.slice(0, -1);
  const areNumbers = leading.every((word) => /^\d{1,5}$/u.test(word) && Number(word) <= 0xffff);
  if (name === null || name.startsWith('*.') || leading.length !== numbers.length || !areNumbers)
    return { ok: false, expected };
  const values = leading.map(Number);
  const fixed = values.flatMap((number) => [number >>> 8, number & 0xff]);
  const rdata = Uint8Array.from([...fixed, ...nameFromText(name)!]);
  return { ok: true, value: [...values, name].join(' '), rdata };
}

/** Reads a text, which is split into strings of 255 bytes, or quoted strings as in zone files. */
function readText(value: string): LocalValue {
  const quoted = /^\s*(?:"(?:[^"\\]|\\.)*"\s*)+$/su.test(value) ? value.match(/"(?:[^"\\]|\\.)*"/gsu) : null;
  const strings = quoted?.map((one) => Buffer.from(one.slice(1, -1).replaceAll(/\\(.)/gsu, '$1'))) ?? [];
  if (quoted === null) {
    const bytes = Buffer.from(value);
    for (let at = 0; at < bytes.length; at += MAX_STRING_BYTES)
      strings.push(bytes.subarray(at, at + MAX_STRING_BYTES));
  }
  const size = strings.reduce((sum, one) => sum + one.length + 1, 0);
  if (size === 0 || size > MAX_TEXT_BYTES || strings.some((one) => one.length > MAX_STRING_BYTES))
    return { ok: false, expected: `text of 1 to ${MAX_TEXT_BYTES} bytes; strings in quotes of at most 255` };
  return { ok: true, value, rdata: Uint8Array.from(strings.flatMap((one) => [one.length, ...one])) };
}

/** A record on one line, `name [ttl] type value`, as in zone files; or a description of the expected form. */
export function readLocalRecordLine(line: string): WrittenLocalRecord | string {
  const match = /^\s*(\S+)\s+(?:(\d{1,7})\s+)?(?:IN\s+)?([A-Za-z]+)\s+(\S.*)$/su.exec(line);
  const type = LOCAL_RECORD_TYPES.find((one) => one === match?.[3]?.toUpperCase());
  if (match === null || type === undefined)
    return `a record such as "nas.home.arpa A 192.0.2.5"; types are ${LOCAL_RECORD_TYPES.join(', ')}`;
  const fqdn = canonicalOwner(match[1]!);
  if (fqdn === null) return `a record that starts with a domain name, not "${match[1]!}"`;
  const ttlSecs = match[2] === undefined ? DEFAULT_LOCAL_TTL_SECS : Number(match[2]);
  if (ttlSecs > MAX_LOCAL_TTL_SECS) return `a TTL of at most ${MAX_LOCAL_TTL_SECS} seconds`;
  const read = readLocalValue(type, match[4]!);
  return read.ok ? { fqdn, type, value: read.value, ttlSecs } : `${read.expected} as the value of ${type}`;
}

/** Code of a local record's type. */
export function localTypeCode(type: LocalRecordType): number {
  return RRType[type];
}
