/** Encoder for the DER elements (ITU-T X.690) that certificates and signed messages use, and a reader of their lengths. */

/** A finished element: tag, length and content. */
export type Der = Buffer;

const Tag = {
  BOOLEAN: 0x01,
  INTEGER: 0x02,
  BIT_STRING: 0x03,
  OCTET_STRING: 0x04,
  NULL: 0x05,
  OID: 0x06,
  UTF8_STRING: 0x0c,
  UTC_TIME: 0x17,
  GENERALIZED_TIME: 0x18,
  SEQUENCE: 0x30,
  SET: 0x31,
  /** Context-specific; the tag number is added. */
  CONTEXT: 0x80,
  CONTEXT_CONSTRUCTED: 0xa0,
} as const;

function element(tag: number, ...content: readonly Uint8Array[]): Der {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const length = Buffer.from(evenHex(body.length), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, body]);
}

export function sequence(...elements: readonly Der[]): Der {
  return element(Tag.SEQUENCE, ...elements);
}

/** A set, whose elements are sorted by their encoding. */
export function setOf(...elements: readonly Der[]): Der {
  return element(Tag.SET, ...sorted(elements));
}

/** The content of a set, for use with a tag that replaces the set's own. */
export function sorted(elements: readonly Der[]): Der[] {
  return elements.toSorted((one, other) => Buffer.compare(one, other));
}

/** The value of the parameters of an algorithm without parameters. */
export function nothing(): Der {
  return element(Tag.NULL);
}

/** A non-negative integer, from bytes in network order. */
export function unsigned(octets: Uint8Array): Der {
  const from = octets.findIndex((octet) => octet !== 0);
  const digits = from === -1 ? Buffer.of(0) : octets.subarray(from);
  return element(Tag.INTEGER, ...(digits[0]! >= 0x80 ? [Buffer.of(0)] : []), digits);
}

/** An object identifier such as `2.5.4.3`. */
export function oid(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(Tag.OID, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

export function utf8(text: string): Der {
  return element(Tag.UTF8_STRING, Buffer.from(text));
}

export function isTrue(): Der {
  return element(Tag.BOOLEAN, Buffer.of(0xff));
}

export function octetString(content: Uint8Array): Der {
  return element(Tag.OCTET_STRING, content);
}

/** A bit string; the last `unusedBits` bits of its last byte are padding. */
export function bitString(content: Uint8Array, unusedBits = 0): Der {
  return element(Tag.BIT_STRING, Buffer.of(unusedBits), content);
}

/** A time in whole seconds: UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280 section 4.1.2.5). */
export function time(date: Date): Der {
  const digits = date
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '');
  return date.getUTCFullYear() < 2050
    ? element(Tag.UTC_TIME, Buffer.from(digits.slice(2)))
    : element(Tag.GENERALIZED_TIME, Buffer.from(digits));
}

/** Implicit tagging: a context-specific tag replaces the tag of the value. */
export function implicit(number: number, content: Uint8Array): Der {
  return element(Tag.CONTEXT + number, content);
}

/**
 * Explicit tagging: a context-specific tag around a complete element. Around several elements, it is the implicit
 * tagging of their set.
 */
export function explicit(number: number, ...content: readonly Der[]): Der {
  return element(Tag.CONTEXT_CONSTRUCTED + number, ...content);
}

/**
 * The complete elements within a constructed element. Throws RangeError for a length that is longer than the content.
 */
export function elementsOf(whole: Der): Der[] {
  const found: Der[] = [];
  let at = headSize(whole, 0);
  while (at < whole.length) {
    const end = at + headSize(whole, at) + contentSize(whole, at);
    if (end > whole.length) throw new RangeError('an element is longer than the element that contains it');
    found.push(whole.subarray(at, end));
    at = end;
  }
  return found;
}

function headSize(der: Der, at: number): number {
  const first = der[at + 1] ?? 0;
  return first < 0x80 ? 2 : 2 + (first & 0x7f);
}

function contentSize(der: Der, at: number): number {
  const first = der[at + 1] ?? 0;
  return first < 0x80 ? first : der.readUIntBE(at + 2, first & 0x7f);
}

function base128(value: number): number[] {
  const high = Math.floor(value / 128);
  return [...(high === 0 ? [] : base128(high).map((octet) => octet | 0x80)), value % 128];
}

function evenHex(value: number): string {
  const digits = value.toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}
