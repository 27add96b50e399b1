/**
 * IP addresses as 16 bytes, IPv4 as ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2), to and from text (RFC 5952). Prefixes
 * are in `cidr.ts`.
 */

/** Bytes of an address. */
export const ADDRESS_SIZE = 16;
/** Offset of the four bytes of an IPv4 address. */
const IPV4_AT = 12;
const DOT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** The 16 bytes of an IPv4 or IPv6 literal (without its zone index); null for other text. */
export function addressFromText(text: string): Uint8Array | null {
  const bytes = new Uint8Array(ADDRESS_SIZE);
  if (!text.includes(':')) {
    bytes.fill(0xff, 10, IPV4_AT);
    return readIpv4(text, bytes, IPV4_AT) ? bytes : null;
  }
  const [address = ''] = text.split('%', 1);
  const halves = address.split('::');
  if (halves.length > 2) return null;
  const leading = readGroups(halves[0] ?? '', halves.length === 1);
  const trailing = halves.length === 2 ? readGroups(halves[1] ?? '', true) : [];
  if (leading === null || trailing === null) return null;
  const missing = ADDRESS_SIZE - leading.length - trailing.length;
  if (halves.length === 1 ? missing !== 0 : missing < 2) return null; // "::" replaces one or more groups
  bytes.set(leading, 0);
  bytes.set(trailing, ADDRESS_SIZE - trailing.length);
  return bytes;
}

/** Bytes of colon-separated groups; with `dottedEnd`, the last may be a dotted IPv4 address. */
function readGroups(text: string, dottedEnd: boolean): number[] | null {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (group.includes('.')) {
      const ipv4 = new Uint8Array(4);
      if (!dottedEnd || index !== groups.length - 1 || !readIpv4(group, ipv4, 0)) return null;
      bytes.push(...ipv4);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return null;
      const value = parseInt(group, 16);
      bytes.push(value >>> 8, value & 0xff);
    }
  }
  return bytes;
}

function readIpv4(text: string, into: Uint8Array, at: number): boolean {
  const address = ipv4FromText(text);
  if (address < 0) return false;
  for (let index = 0; index < 4; index++) into[at + index] = address >>> (24 - index * 8);
  return true;
}

/** The u32 of a dotted IPv4 address, first byte highest; -1 for other text. Allocates nothing. */
export function ipv4FromText(text: string): number {
  let address = 0;
  let byte = -1; // -1 = no digit of the byte was read yet
  let dots = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === DOT) {
      if (byte < 0 || ++dots > 3) return -1;
      address = address * 256 + byte;
      byte = -1;
    } else {
      // No leading zeros: some parsers read them as octal.
      if (code < DIGIT_0 || code > DIGIT_9 || byte === 0) return -1;
      byte = (byte < 0 ? 0 : byte * 10) + code - DIGIT_0;
      if (byte > 255) return -1;
    }
  }
  return dots === 3 && byte >= 0 ? address * 256 + byte : -1;
}

/** Four bytes of an address as one signed word, first byte highest. */
export function addressWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

/** Whether the 16 bytes are an IPv4 address. */
export function isMappedIpv4(bytes: Uint8Array, at = 0): boolean {
  for (let i = 0; i < 10; i++) if (bytes[at + i] !== 0) return false;
  return bytes[at + 10] === 0xff && bytes[at + 11] === 0xff;
}

/** Text of 16 bytes: dotted for a mapped IPv4 address, or in the form of RFC 5952 section 4. */
export function addressToText(bytes: Uint8Array, at = 0): string {
  if (isMappedIpv4(bytes, at)) return Array.from(bytes.subarray(at + IPV4_AT, at + ADDRESS_SIZE)).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[at + i * 2]! << 8) | bytes[at + i * 2 + 1]!);
  const { start, length } = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
