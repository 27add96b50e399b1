/**
 * Names in a received message: expansion of compressed names (RFC 1035 section 4.1.4) within limits that keep the work
 * linear for any input, and comparison without regard to ASCII case. `response-reader.ts` decides which records matter;
 * `body-writer.ts` writes names again.
 */
import { FOLD, MAX_NAME_LENGTH } from '../../../shared/dns/name.ts';
import { Header } from '../../../shared/dns/wire.ts';

/** Maximum number of pointers in a name: a name has at most 127 labels (RFC 1035 section 2.3.4). */
const MAX_JUMPS = 127;

/** A name copied from a message; the object is reused, never stored. */
export interface ExpandedName {
  /** Uncompressed wire form, letter case as received; valid up to `length`. */
  readonly wire: Uint8Array;
  length: number;
  /** Offset after the name in the message. */
  next: number;
}

/** An empty object for one name. */
export function newExpandedName(): ExpandedName {
  return { wire: new Uint8Array(MAX_NAME_LENGTH + 1), length: 0, next: 0 };
}

/**
 * Expands the name at `at` into `into`; false if it extends beyond the message, exceeds 255 bytes, contains a reserved
 * label type, or has a pointer that does not point strictly backwards to a position after the header. At most 127 jumps
 * and 255 bytes, so the work is limited for any message.
 */
export function expandName(message: Uint8Array, at: number, into: ExpandedName): boolean {
  const { wire } = into;
  let offset = at;
  let limit = at;
  let length = 0;
  let next = -1;
  let jumps = 0;
  for (;;) {
    if (offset >= message.length) return false;
    const size = message[offset]!;
    if (size >= 0xc0) {
      if (offset + 1 >= message.length) return false;
      if (next < 0) next = offset + 2;
      const target = ((size & 0x3f) << 8) | message[offset + 1]!;
      if (target >= limit || target < Header.SIZE || ++jumps > MAX_JUMPS) return false;
      limit = target;
      offset = target;
      continue;
    }
    if (size > 63 || length + size + 1 > MAX_NAME_LENGTH) return false;
    if (size === 0) {
      wire[length] = 0;
      into.length = length + 1;
      into.next = next < 0 ? offset + 1 : next;
      return true;
    }
    const end = offset + size + 1;
    if (end > message.length) return false;
    while (offset < end) wire[length++] = message[offset++]!;
  }
}

/** Whether two uncompressed names are equal, ASCII case ignored (RFC 4343 section 3). */
export function sameName(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number): boolean {
  if (aLength !== bLength) return false;
  for (let i = 0; i < aLength; i++) {
    if (a[i] !== b[i] && FOLD[a[i]!] !== FOLD[b[i]!]) return false;
  }
  return true;
}

/**
 * Whether `suffix` is `name` or one of its parents: the offset in `name` at which `suffix` begins, or -1. Both names
 * are uncompressed.
 */
export function findSuffix(name: ExpandedName, suffix: ExpandedName): number {
  const start = name.length - suffix.length;
  if (start < 0) return -1;
  let at = 0;
  while (at < start) at += name.wire[at]! + 1;
  if (at !== start) return -1;
  for (let i = 0; i < suffix.length; i++) {
    if (FOLD[name.wire[start + i]!] !== FOLD[suffix.wire[i]!]) return -1;
  }
  return start;
}

/** Copies one expanded name over another. */
export function copyName(from: ExpandedName, to: ExpandedName): void {
  for (let i = 0; i < from.length; i++) to.wire[i] = from.wire[i]!;
  to.length = from.length;
}

/**
 * A 32-bit hash of an uncompressed name that ignores ASCII case; the seed prevents collisions that an attacker chooses.
 */
export function foldedHash(name: ExpandedName, seed: number): number {
  const { wire, length } = name;
  let hash = seed;
  for (let i = 0; i < length; i++) {
    hash = Math.imul(hash ^ FOLD[wire[i]!]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash | 0;
}
