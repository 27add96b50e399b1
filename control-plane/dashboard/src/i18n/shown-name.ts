/** Display form of a domain name: its labels, and the decoded form of an internationalised name. */

/** A domain name, split so that the line may wrap between labels. */
export interface ShownName {
  /** The labels in ASCII, with `\DDD` for other bytes, as the server writes them. */
  readonly labels: readonly string[];
  /**
   * The name with decoded Unicode letters; null if it contains none, or if they could be confused with other letters.
   */
  readonly unicode: string | null;
}

/** Splits at dots, except at escaped dots (`\.`), which belong to a label. */
export function shownName(name: string): ShownName {
  const labels = name === '.' ? ['.'] : name.split(/(?<!\\)\./);
  return { labels, unicode: unicodeOf(name) };
}

function unicodeOf(name: string): string | null {
  if (!/(^|\.)xn--/i.test(name)) return null;
  const decoded = name
    .split('.')
    .map((label) => (/^xn--/i.test(label) ? decodeLabel(label.slice(4)) : label));
  if (decoded.includes(null)) return null;
  return decoded.join('.');
}

/**
 * Decodes a label (RFC 3492 section 6.2); null if the text is not Punycode or decodes to anything other than letters,
 * digits and hyphens.
 */
function decodeLabel(text: string): string | null {
  const codes = decodePunycode(text.toLowerCase());
  if (codes === null) return null;
  const label = String.fromCodePoint(...codes);
  return /^[\p{L}\p{M}\p{N}-]+$/u.test(label) ? label : null;
}

const BASE = 36;
const MAX_LABEL = 63;

function decodePunycode(text: string): number[] | null {
  if (text.length > MAX_LABEL) return null;
  const delimiter = text.lastIndexOf('-');
  const codes = delimiter > 0 ? Array.from(text.slice(0, delimiter), (letter) => letter.codePointAt(0)!) : [];
  let code = 128;
  let place = 0;
  let bias = 72;
  for (let at = delimiter > 0 ? delimiter + 1 : 0; at < text.length;) {
    const before = place;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitOf(text.charCodeAt(at));
      at += 1;
      if (digit === null) return null;
      place += digit * weight;
      const threshold = Math.min(Math.max(k - bias, 1), 26);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    bias = adapt(place - before, codes.length + 1, before === 0);
    code += Math.floor(place / (codes.length + 1));
    place %= codes.length + 1;
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return null;
    codes.splice(place, 0, code);
    place += 1;
  }
  return codes;
}

/** Adapts the bias of the decoder (RFC 3492 section 6.1). */
function adapt(delta: number, points: number, isFirst: boolean): number {
  let left = Math.floor(delta / (isFirst ? 700 : 2));
  left += Math.floor(left / points);
  let k = 0;
  while (left > 455) {
    left = Math.floor(left / 35);
    k += BASE;
  }
  return k + Math.floor((36 * left) / (left + 38));
}

/** Value of a letter (a to z: 0 to 25) or a digit (0 to 9: 26 to 35). */
function digitOf(code: number): number | null {
  if (code >= 97 && code <= 122) return code - 97;
  if (code >= 48 && code <= 57) return code - 22;
  return null;
}
