/**
 * Finds a domain name at the start of a byte sequence: checks the bytes and the maximum length of labels and names, and
 * finds the byte after the name. It works on bytes in place and allocates only for internationalised names.
 * `line-rules.ts` decides how the name is used.
 */
import { domainToASCII } from 'node:url';
import { MAX_LABEL_LENGTH } from '../../../../shared/dns/name.ts';

/** Maximum length of a name as text without a final dot: 255 octets in wire form (RFC 1035 section 2.3.4). */
const MAX_TEXT_LENGTH = 253;

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;
const DOT = 3;

/** Lists contain host names: letters, digits, hyphen, and the underscore that service names start with. */
const CLASS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x2e) return DOT;
  if (byte >= 0x30 && byte <= 0x39) return DIGIT;
  const lower = byte | 0x20;
  return (byte >= 0x40 && lower >= 0x61 && lower <= 0x7a) || byte === 0x2d || byte === 0x5f ? LETTER : OTHER;
});

/** Bytes that end a name in at least one list syntax: white space and `# $ * / : ^ |`. */
const ENDS_NAME = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= 0x20 || [0x23, 0x24, 0x2a, 0x2f, 0x3a, 0x5e, 0x7c].includes(byte) ? 1 : 0,
);

/** Result of `scanName`; the object is reused, so read the result before the next scan. */
export interface ScannedName {
  /** Buffer of the name: the scanned bytes, or the ASCII form of an internationalised name. */
  bytes: Uint8Array;
  start: number;
  /** End of the name, without a final dot. */
  end: number;
  /** First byte of the scanned sequence that does not belong to a name, or its end. */
  stop: number;
  labels: number;
  /** False if a label is empty or too long, or the whole name is too long. */
  valid: boolean;
  /**
   * Whether the last label consists of digits. The text is then an address or invalid, but never a name (RFC 1123
   * section 2.1).
   */
  numeric: boolean;
}

/** An empty result for `scanName`. */
export function newScannedName(): ScannedName {
  return { bytes: new Uint8Array(0), start: 0, end: 0, stop: 0, labels: 0, valid: false, numeric: false };
}

/** Reads the name at `start` of `bytes`, at most to `end`, into `into`. */
export function scanName(bytes: Uint8Array, start: number, end: number, into: ScannedName): void {
  scanAscii(bytes, start, end, into);
  if (into.stop < end && bytes[into.stop]! >= 0x80) scanInternational(bytes, start, end, into);
}

function scanAscii(bytes: Uint8Array, start: number, end: number, into: ScannedName): void {
  let at = start;
  let labelAt = start;
  let dots = 0;
  let valid = true;
  let numeric = true;
  let numericBefore = true;
  for (; at < end; at++) {
    const kind = CLASS[bytes[at]!]!;
    if (kind === LETTER) numeric = false;
    else if (kind === DOT) {
      const length = at - labelAt;
      if (length === 0 || length > MAX_LABEL_LENGTH) valid = false;
      dots++;
      labelAt = at + 1;
      numericBefore = numeric;
      numeric = true;
    } else if (kind === OTHER) break;
  }
  const finalDot = dots > 0 && labelAt === at;
  if (!finalDot && (at === labelAt || at - labelAt > MAX_LABEL_LENGTH)) valid = false;
  into.bytes = bytes;
  into.start = start;
  into.end = finalDot ? at - 1 : at;
  into.stop = at;
  into.labels = finalDot ? dots : dots + 1;
  into.numeric = finalDot ? numericBefore : numeric;
  into.valid = valid && into.end - start <= MAX_TEXT_LENGTH;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads an internationalised name, by converting it to its ASCII form (Punycode, RFC 5891). */
function scanInternational(bytes: Uint8Array, start: number, end: number, into: ScannedName): void {
  let stop = into.stop;
  while (stop < end && ENDS_NAME[bytes[stop]!] === 0) stop++;
  const ascii = asciiForm(bytes.subarray(start, stop));
  if (ascii === null) {
    into.valid = false;
    into.numeric = false;
  } else {
    scanAscii(ascii, 0, ascii.length, into);
    if (into.stop !== ascii.length) into.valid = false;
  }
  into.stop = stop;
}

/** More bytes than any name needs, even in UTF-8 with four bytes per character. */
const MAX_INTERNATIONAL_BYTES = 1024;

function asciiForm(name: Uint8Array): Uint8Array | null {
  if (name.length > MAX_INTERNATIONAL_BYTES) return null;
  try {
    const ascii = domainToASCII(utf8.decode(name));
    return ascii === '' ? null : Buffer.from(ascii, 'latin1');
  } catch {
    // The bytes are not UTF-8, so no query can contain this name.
    return null;
  }
}
