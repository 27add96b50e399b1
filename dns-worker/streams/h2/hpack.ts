/**
 * Decodes header blocks (HPACK, RFC 7541). One decoder per connection: each block changes the table, so every block
 * must be decoded, in order, even if its request is refused.
 */
import { decodedSizeLimit, decodeHuffman } from './huffman.ts';

/** A field: its name and its value, octets as Latin-1. */
export type Field = readonly [name: string, value: string];

/**
 * Bits that distinguish the representations of a field (RFC 7541 section 6), and the number of bits of the integer in
 * the same octet.
 */
const INDEXED = 0x80;
const INCREMENTAL = 0x40;
const SIZE_UPDATE = 0x20;
const PrefixBits = { INDEXED: 7, INCREMENTAL: 6, SIZE_UPDATE: 5, LITERAL: 4, STRING: 7 } as const;
/** Bit that is set if a string is Huffman-coded. */
const HUFFMAN = 0x80;
/** Overhead of a table entry in addition to its octets (RFC 7541 section 4.1). */
const ENTRY_OVERHEAD = 32;
/** The size of the table unless SETTINGS change it; Weir's SETTINGS do not change it. */
const MAX_TABLE_SIZE = 4096;
/** Maximum number of octets of an integer; more would exceed any valid length. */
const MAX_INTEGER_OCTETS = 4;

/** The static table (RFC 7541 appendix A), from index 1 on. */
const STATIC_TABLE: readonly Field[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  ...['200', '204', '206', '304', '400', '404', '500'].map((status): Field => [':status', status]),
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ...[
    ...['accept-language', 'accept-ranges', 'accept', 'access-control-allow-origin', 'age', 'allow'],
    ...['authorization', 'cache-control', 'content-disposition', 'content-encoding', 'content-language'],
    ...['content-length', 'content-location', 'content-range', 'content-type', 'cookie', 'date', 'etag'],
    ...['expect', 'expires', 'from', 'host', 'if-match', 'if-modified-since', 'if-none-match', 'if-range'],
    ...['if-unmodified-since', 'last-modified', 'link', 'location', 'max-forwards', 'proxy-authenticate'],
    ...['proxy-authorization', 'range', 'referer', 'refresh', 'retry-after', 'server', 'set-cookie'],
    ...['strict-transport-security', 'transfer-encoding', 'user-agent', 'vary', 'via', 'www-authenticate'],
  ].map((name): Field => [name, '']),
];

/** Error for a block that cannot be decoded, so that the connection must be closed (RFC 9113 section 4.3). */
export class HpackError extends Error {
  override readonly name = 'HpackError';
}

/** Decodes the blocks of one connection. */
export class HpackDecoder {
  private readonly maxListSize: number;
  /** The dynamic table, newest entry first. */
  private readonly table: Field[] = [];
  private tableSize = 0;
  private tableLimit = MAX_TABLE_SIZE;
  private bytes: Uint8Array = new Uint8Array(0);
  private at = 0;
  private decoded = new Uint8Array(256);

  /** `maxListSize` limits the size of a block's fields in bytes, including an overhead of 32 per field. */
  constructor(maxListSize: number) {
    this.maxListSize = maxListSize;
  }

  /** The fields of a block in order; null if they are too large. Throws HpackError. */
  decode(block: Uint8Array): Field[] | null {
    this.bytes = block;
    this.at = 0;
    const fields: Field[] = [];
    let size = 0;
    while (this.at < block.length) {
      const field = this.next(fields.length === 0);
      if (field === null) continue;
      size += sizeOf(field);
      // The remaining fields must still be decoded, because they change the table.
      if (size <= this.maxListSize) fields.push(field);
    }
    return size <= this.maxListSize ? fields : null;
  }

  /** The next field; null for a size update. */
  private next(isFirst: boolean): Field | null {
    const first = this.bytes[this.at]!;
    if ((first & INDEXED) !== 0) return this.entry(this.integer(PrefixBits.INDEXED));
    if ((first & INCREMENTAL) !== 0) {
      const field = this.literal(PrefixBits.INCREMENTAL);
      this.add(field);
      return field;
    }
    if ((first & SIZE_UPDATE) === 0) return this.literal(PrefixBits.LITERAL);
    // RFC 7541 section 4.2: size updates are allowed only at the beginning of a block.
    if (!isFirst) throw new HpackError('a size update after a field');
    this.limitTable(this.integer(PrefixBits.SIZE_UPDATE));
    return null;
  }

  private literal(prefixBits: number): Field {
    const index = this.integer(prefixBits);
    const name = index === 0 ? this.string() : this.entry(index)[0];
    return [name, this.string()];
  }

  private entry(index: number): Field {
    const field =
      index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.table[index - STATIC_TABLE.length - 1];
    if (field === undefined) throw new HpackError('an index without an entry');
    return field;
  }

  private add(field: Field): void {
    this.table.unshift(field);
    this.tableSize += sizeOf(field);
    this.evict();
  }

  private limitTable(size: number): void {
    if (size > MAX_TABLE_SIZE) throw new HpackError('a table larger than allowed');
    this.tableLimit = size;
    this.evict();
  }

  private evict(): void {
    while (this.tableSize > this.tableLimit) this.tableSize -= sizeOf(this.table.pop()!);
  }

  /** Reads an integer (RFC 7541 section 5.1). */
  private integer(prefixBits: number): number {
    const max = (1 << prefixBits) - 1;
    let value = this.octet() & max;
    if (value < max) return value;
    for (let i = 0; i < MAX_INTEGER_OCTETS; i++) {
      const octet = this.octet();
      value += (octet & 0x7f) * 2 ** (7 * i);
      if ((octet & 0x80) === 0) return value;
    }
    throw new HpackError('an integer that is too long');
  }

  /** Reads a string (RFC 7541 section 5.2). */
  private string(): string {
    const { bytes } = this;
    const isCoded = this.at < bytes.length && (bytes[this.at]! & HUFFMAN) !== 0;
    const length = this.integer(PrefixBits.STRING);
    const start = this.at;
    this.at += length;
    if (this.at > bytes.length) throw new HpackError('a string that extends beyond the block');
    if (!isCoded) return latin1(bytes, start, this.at);
    const limit = decodedSizeLimit(length);
    if (limit > this.decoded.length) this.decoded = new Uint8Array(limit);
    const size = decodeHuffman(bytes, start, this.at, this.decoded);
    if (size < 0) throw new HpackError('a malformed code');
    return latin1(this.decoded, 0, size);
  }

  private octet(): number {
    if (this.at >= this.bytes.length) throw new HpackError('a truncated block');
    return this.bytes[this.at++]!;
  }
}

function sizeOf([name, value]: Field): number {
  return name.length + value.length + ENTRY_OVERHEAD;
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}
