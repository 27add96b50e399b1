/** Finds lexical elements in the bytes of list lines: signs, comments and words. Does not interpret rules. */

/** Characters that distinguish kinds of lines. */
export const Sign = {
  BANG: 0x21,
  HASH: 0x23,
  DOLLAR: 0x24,
  PERCENT: 0x25,
  OPEN: 0x28,
  CLOSE: 0x29,
  STAR: 0x2a,
  PLUS: 0x2b,
  HYPHEN: 0x2d,
  DOT: 0x2e,
  SLASH: 0x2f,
  COLON: 0x3a,
  SEMICOLON: 0x3b,
  EQUALS: 0x3d,
  QUESTION: 0x3f,
  AT: 0x40,
  BRACKET: 0x5b,
  BACKSLASH: 0x5c,
  BRACKET_END: 0x5d,
  CARET: 0x5e,
  PIPE: 0x7c,
} as const;

const { BANG, HASH, DOLLAR, PERCENT, SLASH, SEMICOLON, QUESTION, AT } = Sign;

/** Whether a comment can start with this character. */
export function startsComment(byte: number): boolean {
  return byte === HASH || byte === BANG || byte === SEMICOLON;
}

/** Whether [at, end) contains only white space and a comment; the part must start with white space. */
export function isComment(bytes: Uint8Array, at: number, end: number): boolean {
  if (at < end && bytes[at]! > 0x20) return false;
  let next = at;
  while (next < end && bytes[next]! <= 0x20) next++;
  return next === end || startsComment(bytes[next]!) || (bytes[next] === SLASH && bytes[next + 1] === SLASH);
}

/**
 * End of the text before a comment in [start, end); `end` if there is no comment. A comment starts with white space and
 * one of the given signs.
 */
export function endBeforeComment(
  bytes: Uint8Array,
  start: number,
  end: number,
  isSign: (byte: number) => boolean,
): number {
  for (let at = start + 1; at < end; at++) {
    if (bytes[at - 1]! > 0x20 || !isSign(bytes[at]!)) continue;
    let cut = at - 1;
    while (cut > start && bytes[cut - 1]! <= 0x20) cut--;
    return cut;
  }
  return end;
}

/** End of the word that contains `at`. */
export function endOfWord(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  while (next < end && bytes[next]! > 0x20) next++;
  return next;
}

/** Whether the `#` at `at`, directly after a name, can start `##`, `#@#`, `#?#`, `#$#` or `#%#`. */
export function startsCosmetic(bytes: Uint8Array, at: number, end: number): boolean {
  if (at + 1 >= end) return false;
  const next = bytes[at + 1];
  return next === HASH || next === AT || next === QUESTION || next === DOLLAR || next === PERCENT;
}

/** Whether a line that starts with `#` is a cosmetic rule for every page; headings (`## Ads`) are comments. */
export function isCosmetic(bytes: Uint8Array, at: number, end: number): boolean {
  if (!startsCosmetic(bytes, at, end)) return false;
  let next = at + 1;
  while (next < end && next < at + 3 && bytes[next] !== HASH) next++;
  return next + 1 < end && bytes[next] === HASH && bytes[next + 1]! > 0x20 && bytes[next + 1] !== HASH;
}

/** Whether a byte is a letter of ASCII. */
export function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/**
 * Maximum size of a rule that is read as text; the longest rule in published lists has 900 bytes. Longer lines give no
 * rule, so that the length of the text that parsers get is bounded.
 */
export const MAX_RULE_BYTES = 4096;

/** The bytes [start, end) as text; the caller limits them to `MAX_RULE_BYTES`. */
export function textBetween(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}
