/**
 * Rows in PostgreSQL's binary COPY format, written straight into one growing buffer: nothing is allocated
 * for a row. The columns and their order stand here and in no other place of the writing side.
 */
import { FOLD } from '../../shared/dns/name.ts';
import { keepsAnswers, keptClientBytes } from './privacy.ts';
import type { QueryLogPrivacy } from './privacy.ts';
import type { QueryLogRow } from './row.ts';

/** Columns in the order in which `encode()` writes them. */
export const COPY_COLUMNS =
  '"timestamp", node_id, group_id, response_time_us, type, rcode, status, protocol, dnssec, cached, ' +
  'client, domain, block_source, block_rule, upstream, answers';
const COLUMN_COUNT = 16;

/** What precedes all rows: signature, flags, no extension. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** What follows them. */
const TRAILER = Buffer.from([0xff, 0xff]);

/** PostgreSQL counts time from 2000-01-01. */
const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1);
/** Bytes of the columns of fixed size, each with its length word, and the column count. */
const FIXED_SIZE = 2 + 12 + 3 * 8 + 5 * 6 + 5;
/** Bytes that a row needs at most besides texts and answers: an address and a name of which all is escaped. */
const MAX_BASE_SIZE = FIXED_SIZE + 4 + 20 + 4 + 4 * 255 + 4 * 4;
/** PostgreSQL's number for an IPv6 address in binary `inet`; IPv4 is 2. */
const FAMILY = { ipv4: 2, ipv6: 3 } as const;

/** What a byte of a label looks like in text: itself in lower case, or 0 where it must be escaped. */
const PLAIN = FOLD.map((byte) => (byte > 0x20 && byte < 0x7f && byte !== 0x2e && byte !== 0x5c ? byte : 0));

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;
/** Rows outside these days hold a broken clock; 2000-01-01 to 2262, safe in all of PostgreSQL's arithmetic. */
const MIN_TIMESTAMP_MS = POSTGRES_EPOCH_MS;
const MAX_TIMESTAMP_MS = Date.UTC(2262, 0, 1);

/** Rows that were encoded, ready to be sent or spooled. */
export interface EncodedRows {
  /** A whole binary COPY stream. */
  readonly bytes: Buffer;
  readonly rowCount: number;
  /** Days since 1970 in UTC that the rows lie on; each needs its partition. */
  readonly days: readonly number[];
}

/** Gathers rows of one node into batches. */
export class CopyEncoder {
  /** Id of the node that every row gets. */
  readonly #nodeId: number;
  #buffer: Buffer;
  #at = HEADER.length;
  #rowCount = 0;
  readonly #days = new Set<number>();
  #lastDay = -1;

  constructor(nodeId: number, initialBytes = 256 * 1024) {
    this.#nodeId = nodeId;
    this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
    HEADER.copy(this.#buffer);
  }

  /** Rows since the last `take()`. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Bytes since the last `take()`. */
  get byteLength(): number {
    return this.#at;
  }

  /** Adds one row; only what `privacy` allows is copied. */
  encode(row: QueryLogRow, privacy: QueryLogPrivacy): void {
    this.#reserve(row);
    const timestampMs = Math.min(Math.max(row.timestampMs, MIN_TIMESTAMP_MS), MAX_TIMESTAMP_MS);
    this.#writeFixed(row, timestampMs);
    this.#writeClient(row.client, privacy);
    this.#writeName(row.qname);
    this.#writeText(row.blockSource);
    this.#writeText(row.blockRule);
    this.#writeText(row.upstream);
    this.#writeBytes(keepsAnswers(privacy) ? row.answers : null);
    this.#rowCount++;
    const day = Math.floor(timestampMs / DAY_MS);
    if (day !== this.#lastDay) {
      this.#days.add(day);
      this.#lastDay = day;
    }
  }

  /** Hands over what was gathered and starts anew. */
  take(): EncodedRows {
    // A copy of the right size: a waiting batch of ten rows must not hold a buffer for thousands.
    const bytes = Buffer.allocUnsafeSlow(this.#at + TRAILER.length);
    this.#buffer.copy(bytes, 0, 0, this.#at);
    TRAILER.copy(bytes, this.#at);
    const rows = { bytes, rowCount: this.#rowCount, days: [...this.#days] };
    this.#at = HEADER.length;
    this.#rowCount = 0;
    this.#days.clear();
    this.#lastDay = -1;
    return rows;
  }

  #reserve(row: QueryLogRow): void {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    const texts = (row.blockSource?.length ?? 0) + (row.blockRule?.length ?? 0) + (row.upstream?.length ?? 0);
    const needed = this.#at + MAX_BASE_SIZE + 3 * texts + (row.answers?.length ?? 0);
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }

  #writeFixed(row: QueryLogRow, timestampMs: number): void {
    const out = this.#buffer;
    let at = this.#at;
    out[at] = 0;
    out[at + 1] = COLUMN_COUNT;
    const timestampUs = Math.round((timestampMs - POSTGRES_EPOCH_MS) * 1000);
    put32(out, at + 2, 8);
    put32(out, at + 6, Math.floor(timestampUs / 0x1_0000_0000));
    put32(out, at + 10, timestampUs % 0x1_0000_0000);
    at = put32Column(out, at + 14, this.#nodeId);
    at = put32Column(out, at, row.groupId);
    at = put32Column(out, at, Math.min(row.responseTimeUs, 0x7fff_ffff));
    at = put16Column(out, at, row.qtype);
    at = put16Column(out, at, row.rcode);
    at = put16Column(out, at, row.status);
    at = put16Column(out, at, row.protocol);
    at = put16Column(out, at, row.dnssec);
    put32(out, at, 1);
    out[at + 4] = row.cached ? 1 : 0;
    this.#at = at + 5;
  }

  #writeClient(address: Uint8Array, privacy: QueryLogPrivacy): void {
    const out = this.#buffer;
    const at = this.#at;
    const start = isMappedIpv4(address) ? 12 : 0;
    const length = address.length - start === 4 ? 4 : 16;
    const kept = keptClientBytes(privacy, length);
    put32(out, at, 4 + length);
    out[at + 4] = length === 4 ? FAMILY.ipv4 : FAMILY.ipv6;
    out[at + 5] = length * 8;
    out[at + 6] = 0;
    out[at + 7] = length;
    for (let i = 0; i < length; i++) out[at + 8 + i] = i < kept ? address[start + i]! : 0;
    this.#at = at + 8 + length;
  }

  /** Presentation form without a final dot, as `nameToText()` of shared/dns makes it, but folded. */
  #writeName(wire: Uint8Array): void {
    const out = this.#buffer;
    const start = this.#at + 4;
    let at = start;
    for (let from = 0; wire[from] !== 0;) {
      if (at !== start) out[at++] = 0x2e;
      const end = from + 1 + wire[from]!;
      for (from++; from < end; from++) {
        const plain = PLAIN[wire[from]!]!;
        if (plain !== 0) out[at++] = plain;
        else at = putEscaped(out, at, wire[from]!);
      }
    }
    if (at === start) out[at++] = 0x2e;
    put32(out, this.#at, at - start);
    this.#at = at;
  }

  #writeText(text: string | null): void {
    if (text === null) return this.#writeNull();
    const out = this.#buffer;
    const start = this.#at + 4;
    let length = putAscii(out, start, text);
    // PostgreSQL stores no NUL in a text, and one bad rule must not cost a whole batch.
    if (length < 0) length = out.write(text.replaceAll('\0', ''), start, 'utf8');
    put32(out, this.#at, length);
    this.#at = start + length;
  }

  #writeBytes(bytes: Uint8Array | null): void {
    if (bytes === null) return this.#writeNull();
    put32(this.#buffer, this.#at, bytes.length);
    const out = this.#buffer;
    const start = this.#at + 4;
    for (let i = 0; i < bytes.length; i++) out[start + i] = bytes[i]!; // Short: `set()` costs more than it saves.
    this.#at = start + bytes.length;
  }

  #writeNull(): void {
    put32(this.#buffer, this.#at, -1);
    this.#at += 4;
  }
}

function isMappedIpv4(address: Uint8Array): boolean {
  if (address.length !== 16 || address[10] !== 0xff || address[11] !== 0xff) return false;
  for (let i = 0; i < 10; i++) if (address[i] !== 0) return false;
  return true;
}

/** Writes a text of ASCII without NUL, four times as fast as `Buffer.write`; -1 when it is something else. */
function putAscii(out: Buffer, at: number, text: string): number {
  const length = text.length;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f || unit === 0) return -1;
    out[at + i] = unit;
  }
  return length;
}

function putEscaped(out: Buffer, at: number, byte: number): number {
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

function put32Column(out: Buffer, at: number, value: number): number {
  put32(out, at, 4);
  put32(out, at + 4, value);
  return at + 8;
}

function put16Column(out: Buffer, at: number, value: number): number {
  put32(out, at, 2);
  out[at + 4] = value >>> 8;
  out[at + 5] = value;
  return at + 6;
}

function put32(out: Buffer, at: number, value: number): void {
  out[at] = value >>> 24;
  out[at + 1] = value >>> 16;
  out[at + 2] = value >>> 8;
  out[at + 3] = value;
}
