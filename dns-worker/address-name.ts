/**
 * Writes an address of an answer as rules on addresses are written, so that it can be judged as a name is:
 * dotted IPv4 as four labels, IPv6 in the form of RFC 5952 as one label. Nothing allocates.
 */
import { isMappedIpv4 } from '../shared/net/ip.ts';
import type { Query } from './query.ts';

const IPV4_SIZE = 4;
const IPV6_SIZE = 16;
const GROUPS = 8;
const COLON = 0x3a;
const DIGITS = Uint8Array.from(Buffer.from('0123456789abcdef'));

/** Puts the address of `size` (4 or 16) bytes at `at` into `into` as its qname; hashes are for the caller. */
export function writeAddressName(bytes: Uint8Array, at: number, size: number, into: Query): void {
  into.isAddress = true;
  if (size === IPV4_SIZE) writeIpv4(bytes, at, into);
  else if (isMappedIpv4(bytes, at)) writeIpv4(bytes, at + IPV6_SIZE - IPV4_SIZE, into);
  else writeIpv6(bytes, at, into);
}

function writeIpv4(bytes: Uint8Array, at: number, into: Query): void {
  const { qname, labelAt } = into;
  let length = 0;
  for (let label = 0; label < IPV4_SIZE; label++) {
    const value = bytes[at + label]!;
    const start = length++;
    if (value >= 100) qname[length++] = DIGITS[(value / 100) | 0]!;
    if (value >= 10) qname[length++] = DIGITS[((value / 10) | 0) % 10]!;
    qname[length++] = DIGITS[value % 10]!;
    qname[start] = length - start - 1;
    labelAt[label] = start;
  }
  qname[length] = 0;
  into.qnameLength = length + 1;
  into.labelCount = IPV4_SIZE;
}

function writeIpv6(bytes: Uint8Array, at: number, into: Query): void {
  const { qname, labelAt } = into;
  // RFC 5952 section 4.2: the longest run of zero groups is shortened, the first of several, never a single one.
  let runStart = GROUPS;
  let runLength = 1;
  for (let start = 0; start < GROUPS; start++) {
    let length = 0;
    while (start + length < GROUPS && groupAt(bytes, at, start + length) === 0) length++;
    if (length <= runLength) continue;
    runStart = start;
    runLength = length;
  }
  let length = 1;
  for (let group = 0; group < GROUPS; group++) {
    if (group === runStart) {
      qname[length++] = COLON;
      if (runStart + runLength === GROUPS) qname[length++] = COLON;
      group += runLength - 1;
      continue;
    }
    if (group > 0) qname[length++] = COLON;
    const value = groupAt(bytes, at, group);
    if (value >= 0x1000) qname[length++] = DIGITS[value >>> 12]!;
    if (value >= 0x100) qname[length++] = DIGITS[(value >>> 8) & 0xf]!;
    if (value >= 0x10) qname[length++] = DIGITS[(value >>> 4) & 0xf]!;
    qname[length++] = DIGITS[value & 0xf]!;
  }
  qname[0] = length - 1;
  qname[length] = 0;
  labelAt[0] = 0;
  into.qnameLength = length + 1;
  into.labelCount = 1;
}

function groupAt(bytes: Uint8Array, at: number, group: number): number {
  return (bytes[at + group * 2]! << 8) | bytes[at + group * 2 + 1]!;
}
