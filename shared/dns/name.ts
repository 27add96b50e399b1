/**
 * Domain names as bytes: conversion to lower case (RFC 4343), conversion between text and wire form (RFC 1035 sections
 * 3.1 and 5.1), and the keyed hash that finds rules and cached answers. The hash runs from the last label to the first,
 * so that one pass over a name yields the hash of each of its parents.
 */

/** Maximum length of a name in wire form, including the final zero (RFC 1035 section 2.3.4). */
export const MAX_NAME_LENGTH = 255;
/** Maximum length of a label. */
export const MAX_LABEL_LENGTH = 63;
/** Maximum number of labels that fit in a name. */
export const MAX_LABELS = 127;

/** Lower case of each byte; only A to Z change (RFC 4343 section 3). */
export const FOLD: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte,
);

const DOT = 0x2e;
const BACKSLASH = 0x5c;
const HASH_LOW_FACTOR = 0x9e3779b1 | 0;
const HASH_HIGH_FACTOR = 0x85ebca77 | 0;

/**
 * Adds a word to the low lane of a name's running hash. A name is hashed label by label, last label first; a label's
 * length byte and content are read four bytes at a time, little-endian, with zeros at the end of the last word.
 */
export function hashLowStep(lane: number, word: number): number {
  const mixed = Math.imul(lane ^ word, HASH_LOW_FACTOR);
  return mixed ^ (mixed >>> 15);
}

/** Adds a word to the high lane of a name's running hash, see `hashLowStep`. */
export function hashHighStep(lane: number, word: number): number {
  const mixed = Math.imul((lane + word) | 0, HASH_HIGH_FACTOR);
  return mixed ^ (mixed >>> 13);
}

/** Masks of the last word of a label, by the number of label bytes in that word; index 0 stands for four bytes. */
export const LAST_WORD_MASK: Int32Array = Int32Array.from([-1, 0xff, 0xffff, 0xff_ffff]);

/**
 * Lower case of four bytes at a time; only A to Z change (RFC 4343 section 3). Length bytes of labels are below `A` and
 * stay unchanged.
 */
export function foldWord(word: number): number {
  const low = word & 0x7f7f7f7f;
  const upper = (low + 0x3f3f3f3f) ^ (low + 0x25252525);
  return word | ((upper & ~word & 0x80808080) >>> 2);
}

/**
 * Parses presentation form to lower-case wire form; null if it is not a valid name. Accepts the escapes `\.` and
 * `\DDD`; a final dot is optional; `.` and the empty text are the root.
 */
export function nameFromText(text: string): Uint8Array | null {
  const source = Buffer.from(text, 'utf8');
  const wire = new Uint8Array(MAX_NAME_LENGTH);
  if (text === '' || text === '.') return wire.slice(0, 1);
  let labelAt = 0;
  let at = 1;
  for (let i = 0; i < source.length; i++) {
    if (source[i] === DOT) {
      if (!closeLabel(wire, labelAt, at)) return null;
      if (i === source.length - 1) return withRoot(wire, at);
      labelAt = at++;
      continue;
    }
    const escaped = source[i] === BACKSLASH ? readEscape(source, i + 1) : { byte: source[i]!, length: 0 };
    if (escaped === null || at >= MAX_NAME_LENGTH) return null;
    wire[at++] = FOLD[escaped.byte]!;
    i += escaped.length;
  }
  return closeLabel(wire, labelAt, at) ? withRoot(wire, at) : null;
}

/** Writes the length of the label that starts at `labelAt`; false if it is empty or too long. */
function closeLabel(wire: Uint8Array, labelAt: number, at: number): boolean {
  const length = at - labelAt - 1;
  wire[labelAt] = length;
  return length > 0 && length <= MAX_LABEL_LENGTH;
}

function withRoot(wire: Uint8Array, at: number): Uint8Array | null {
  return at < MAX_NAME_LENGTH ? wire.slice(0, at + 1) : null;
}

function readEscape(source: Uint8Array, at: number): { byte: number; length: number } | null {
  const first = source[at];
  if (first === undefined) return null;
  if (first < 0x30 || first > 0x39) return { byte: first, length: 1 };
  const digits = String.fromCharCode(first, source[at + 1] ?? 0, source[at + 2] ?? 0);
  if (!/^\d{3}$/.test(digits) || Number(digits) > 255) return null;
  return { byte: Number(digits), length: 3 };
}

/**
 * Presentation form without a final dot (`.` for the root). Bytes outside printable ASCII become `\DDD`; dots and
 * backslashes inside a label are escaped (RFC 1035 section 5.1). `wire` starts with a valid, uncompressed name. There
 * is only one parameter, because `names.map(nameToText)` would pass the index as a second one.
 */
export function nameToText(wire: Uint8Array): string {
  let text = '';
  for (let at = 0; at < wire.length && wire[at] !== 0;) {
    const end = at + 1 + wire[at]!;
    if (text !== '') text += '.';
    for (at++; at < end; at++) text += escapeByte(wire[at]!);
  }
  return text === '' ? '.' : text;
}

function escapeByte(byte: number): string {
  if (byte === DOT || byte === BACKSLASH) return `\\${String.fromCharCode(byte)}`;
  if (byte > 0x20 && byte < 0x7f) return String.fromCharCode(byte);
  return `\\${String(byte).padStart(3, '0')}`;
}

/** Both lanes of a whole name's hash, i32. */
export interface NameHash {
  low: number;
  high: number;
}

/**
 * Hashes a lower-case wire name from `start` (the length byte of a label) to its end into `into`. Each table has its
 * own seeds, so that an attacker cannot choose names that collide.
 */
export function hashName(
  wire: Uint8Array,
  start: number,
  seedLow: number,
  seedHigh: number,
  into: NameHash,
): void {
  const labels: number[] = [];
  for (let at = start; wire[at] !== 0; at += wire[at]! + 1) labels.push(at);
  let low = seedLow | 0;
  let high = seedHigh | 0;
  for (const labelAt of labels.reverse()) {
    const end = labelAt + wire[labelAt]! + 1;
    for (let at = labelAt; at < end; at += 4) {
      let word = 0;
      for (let byte = 0; byte < 4 && at + byte < end; byte++) word |= wire[at + byte]! << (byte * 8);
      low = hashLowStep(low, word);
      high = hashHighStep(high, word);
    }
  }
  into.low = low;
  into.high = high;
}

/** Text form of each byte of a label: the byte itself in lower case, or 0 if it must be escaped. */
const PLAIN = FOLD.map((byte) => (byte > 0x20 && byte < 0x7f && byte !== 0x2e && byte !== 0x5c ? byte : 0));

/** Maximum number of bytes of a name as text, if every byte is escaped. */
export const MAX_NAME_TEXT_BYTES = 4 * 255;

/**
 * Writes the name at `nameAt` in lower case and without the final dot, as `nameToText()` returns it; returns the offset
 * after it. The name is uncompressed and valid.
 */
export function putNameText(out: Uint8Array, start: number, bytes: Uint8Array, nameAt: number): number {
  let at = start;
  for (let from = nameAt; bytes[from] !== 0;) {
    if (at !== start) out[at++] = 0x2e;
    const end = from + 1 + bytes[from]!;
    for (from++; from < end; from++) {
      const plain = PLAIN[bytes[from]!]!;
      if (plain !== 0) out[at++] = plain;
      else at = putEscaped(out, at, bytes[from]!);
    }
  }
  if (at === start) out[at++] = 0x2e;
  return at;
}

function putEscaped(out: Uint8Array, at: number, byte: number): number {
  out[at] = 0x5c;
  if (byte === 0x2e || byte === 0x5c) {
    out[at + 1] = byte;
    return at + 2;
  }
  out[at + 1] = 0x30 + Math.floor(byte / 100);
  out[at + 2] = 0x30 + (Math.floor(byte / 10) % 10);
  out[at + 3] = 0x30 + (byte % 10);
  return at + 4;
}
