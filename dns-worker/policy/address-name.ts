/**
 * Writes an address of an answer in the form of address rules, so that policy treats it like a name: dotted IPv4 as
 * four labels, IPv6 in the form of RFC 5952 as one label; also writes the prefixes that contain the address, with their
 * length after a slash. Allocates nothing.
 */
import { isMappedIpv4 } from '../../shared/net/ip.ts';
import type { Query } from '../query/query.ts';

const IPV4_SIZE = 4;
const IPV6_SIZE = 16;
const GROUPS = 8;
const COLON = 0x3a;
const SLASH = 0x2f;
const DIGITS = Uint8Array.from(Buffer.from('0123456789abcdef'));

/** Writes the address of `size` (4 or 16) bytes at `at` into `into` as its qname; the caller hashes it. */
export function writeAddressName(bytes: Uint8Array, at: number, size: number, into: Query): void {
  const isMapped = size === IPV6_SIZE && isMappedIpv4(bytes, at);
  const from = isMapped ? at + IPV6_SIZE - IPV4_SIZE : at;
  const { address } = into;
  into.isAddress = true;
  into.addressSize = isMapped ? IPV4_SIZE : size;
  for (let i = 0; i < into.addressSize; i++) address[i] = bytes[from + i]!;
  writeBytes(into);
}

/** Writes the prefix of `address` with `bits` bits into `into`, as `address/bits`. */
export function writePrefixName(address: Query, bits: number, into: Query): void {
  const { addressSize } = address;
  into.isAddress = true;
  into.addressSize = addressSize;
  for (let i = 0; i < addressSize; i++) {
    const left = bits - i * 8;
    const mask = left >= 8 ? 0xff : left <= 0 ? 0 : 0xff00 >>> left;
    into.address[i] = address.address[i]! & mask;
  }
  writeBytes(into);
  appendLength(bits, into);
}

function writeBytes(into: Query): void {
  if (into.addressSize === IPV4_SIZE) writeIpv4(into.address, 0, into);
  else writeIpv6(into.address, 0, into);
}

/** Appends a slash and the number to the last label. */
function appendLength(bits: number, into: Query): void {
  const { qname, labelAt } = into;
  const start = labelAt[into.labelCount - 1]!;
  let length = into.qnameLength - 1;
  qname[length++] = SLASH;
  if (bits >= 100) qname[length++] = DIGITS[(bits / 100) | 0]!;
  if (bits >= 10) qname[length++] = DIGITS[((bits / 10) | 0) % 10]!;
  qname[length++] = DIGITS[bits % 10]!;
  qname[start] = length - start - 1;
  qname[length] = 0;
  into.qnameLength = length + 1;
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
  // RFC 5952 section 4.2: the longest run of at least two zero groups is shortened; of runs of equal length, the first.
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
