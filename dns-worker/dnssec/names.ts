/**
 * Names in the validator: lower-case, uncompressed wire form, compared in canonical order (RFC 4034 section 6.1).
 * `answer-records.ts` reads names from messages.
 */
import { FOLD, MAX_NAME_LENGTH } from '../../shared/dns/name.ts';

/** A lower-case, uncompressed name in wire form; immutable. */
export type Name = Uint8Array;

/** The name of the root. */
export const ROOT: Name = Uint8Array.of(0);

const keyOctets = Buffer.alloc(MAX_NAME_LENGTH);

/**
 * Text that identifies a name, for use as a key in maps. The text of a parent domain is a suffix of its subdomains'
 * texts.
 */
export function nameKey(name: Name): string {
  keyOctets.set(name);
  return keyOctets.toString('latin1', 0, name.length);
}

/** Number of labels of a name, without the root. */
export function labelCount(name: Name): number {
  let labels = 0;
  for (let at = 0; name[at] !== 0; at += name[at]! + 1) labels++;
  return labels;
}

/** The last `labels` labels of a name that has at least that many. */
export function ancestor(name: Name, labels: number): Name {
  let at = 0;
  for (let left = labelCount(name) - labels; left > 0; left--) at += name[at]! + 1;
  return name.subarray(at);
}

/** The name without its first label; for the root, the root itself. */
export function parent(name: Name): Name {
  return name[0] === 0 ? name : name.subarray(name[0]! + 1);
}

/** The name `*` below this name; null if the result would be too long. */
export function wildcardBelow(name: Name): Name | null {
  return name.length + 2 > 255 ? null : Uint8Array.of(1, 0x2a, ...name);
}

/** Whether two names are equal. */
export function isSame(a: Name, b: Name): boolean {
  return a.length === b.length && endsWith(a, b);
}

/** Whether `name` is `above` or below it. */
export function isAtOrBelow(name: Name, above: Name): boolean {
  let at = 0;
  while (name.length - at > above.length) at += name[at]! + 1;
  return name.length - at === above.length && endsWith(name, above);
}

/** Whether `name` is below `above`; false if they are equal. */
export function isBelow(name: Name, above: Name): boolean {
  return name.length > above.length && isAtOrBelow(name, above);
}

function endsWith(name: Name, end: Name): boolean {
  const offset = name.length - end.length;
  for (let i = 0; i < end.length; i++) if (name[offset + i] !== end[i]) return false;
  return true;
}

/** Negative, zero or positive if `a` is before, equal to or after `b` in canonical order. */
export function compareNames(a: Name, b: Name): number {
  const labelsA = labelOffsets(a);
  const labelsB = labelOffsets(b);
  const common = Math.min(labelsA.length, labelsB.length);
  for (let i = 1; i <= common; i++) {
    const atA = labelsA[labelsA.length - i]!;
    const atB = labelsB[labelsB.length - i]!;
    const order = compareBytes(
      a.subarray(atA + 1, atA + 1 + a[atA]!),
      b.subarray(atB + 1, atB + 1 + b[atB]!),
    );
    if (order !== 0) return order;
  }
  return labelsA.length - labelsB.length;
}

/** Number of labels that two names have in common, counted from the root. */
export function commonLabels(a: Name, b: Name): number {
  const max = Math.min(labelCount(a), labelCount(b));
  for (let labels = max; labels > 0; labels--)
    if (isSame(ancestor(a, labels), ancestor(b, labels))) return labels;
  return 0;
}

/** Compares from the left, as unsigned bytes; a prefix sorts first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

/** A lower-case copy of an uncompressed name. */
export function foldedName(octets: Uint8Array, from: number, end: number): Name {
  const name = new Uint8Array(end - from);
  for (let at = from; at < end; at++) name[at - from] = FOLD[octets[at]!]!;
  return name;
}

/**
 * Reads the uncompressed name at the start of RDATA; null if it is malformed. The result is in lower case. RFC 4034
 * sections 3.1.7 and 4.1.1: names in RRSIG and NSEC are not compressed.
 */
export function readPlainName(rdata: Uint8Array, at: number): Name | null {
  let end = at;
  for (;;) {
    const length = rdata[end];
    if (length === undefined || length > 63) return null;
    end += length + 1;
    if (end > rdata.length || end - at > 255) return null;
    if (length === 0) return foldedName(rdata, at, end);
  }
}

function labelOffsets(name: Name): number[] {
  const offsets: number[] = [];
  for (let at = 0; name[at] !== 0; at += name[at]! + 1) offsets.push(at);
  return offsets;
}
