/**
 * Rows in PostgreSQL's binary COPY format, written straight into a batch's memory: nothing is allocated for a row. The
 * columns and their order are defined here only, for the writing side.
 */
import { FOLD } from '../../../shared/dns/name.ts';
import { BatchMemory, SLAB_BYTES } from './batch-memory.ts';
import { keepsAnswers, keptClientBytes } from './privacy.ts';
import type { QueryLogPrivacy } from './privacy.ts';
import type { ByteRange, LoggedRule, QueryLogRow } from '../attribution/row.ts';

/** Columns in the order in which `encode()` writes them. */
export const COPY_COLUMNS =
  '"timestamp", node_id, group_id, response_time_us, type, rcode, status, protocol, dnssec, cached, ' +
  'client, domain, block_source, block_rule, upstream, answers';
const COLUMN_COUNT = 16;
/** Place of `node_id` among them. */
export const NODE_ID_COLUMN = 1;

/** What precedes all rows: signature, flags, no extension. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** Bytes before the first row. */
export const COPY_HEADER_BYTES = HEADER.length;
/** What follows them. */
const TRAILER = Buffer.from([0xff, 0xff]);

/** PostgreSQL counts time from 2000-01-01. */
const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1);
/** Bytes of the columns of fixed size, each with its length word, and the column count. */
const FIXED_SIZE = 2 + 12 + 3 * 8 + 5 * 6 + 5;
/** Bytes that a row needs at most besides texts and answers: an address and a name of which all is escaped. */
const MAX_NAME_SIZE = 4 * 255;
const MAX_BASE_SIZE = FIXED_SIZE + 4 + 20 + 4 + MAX_NAME_SIZE + 4 * 4;
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
  private readonly nodeId: number;
  private readonly memory: BatchMemory;
  private buffer: Buffer;
  private at = HEADER.length;
  private bufferedRows = 0;
  private readonly days = new Set<number>();
  private lastDay = -1;

  constructor(nodeId: number, memory = new BatchMemory()) {
    this.nodeId = nodeId;
    this.memory = memory;
    this.buffer = this.newBuffer();
  }

  /** Rows since the last `take()`. */
  get rowCount(): number {
    return this.bufferedRows;
  }

  /** Bytes since the last `take()`. */
  get byteLength(): number {
    return this.at;
  }

  /** Adds one row; only what `privacy` allows is copied. */
  encode(row: QueryLogRow, privacy: QueryLogPrivacy): void {
    this.reserve(row);
    const timestampMs = Math.min(Math.max(row.timestampMs, MIN_TIMESTAMP_MS), MAX_TIMESTAMP_MS);
    this.writeFixed(row, timestampMs);
    this.writeClient(row.bytes, row.client, privacy);
    this.writeName(row.bytes, row.qname);
    if (row.rule === null) {
      this.writeNull();
      this.writeNull();
    } else this.writeRule(row.rule, row.bytes, row.ruleName);
    this.writeText(row.upstream);
    if (row.answers.length === 0 || !keepsAnswers(privacy)) this.writeNull();
    else this.writeBytes(row.bytes, row.answers);
    this.bufferedRows++;
    const day = Math.floor(timestampMs / DAY_MS);
    if (day !== this.lastDay) {
      this.days.add(day);
      this.lastDay = day;
    }
  }

  /** Returns the gathered rows and starts over. The bytes may be a slab, to be released. */
  take(): EncodedRows {
    const bytes = this.takeBytes();
    TRAILER.copy(bytes, bytes.length - TRAILER.length);
    const rows = { bytes, rowCount: this.bufferedRows, days: [...this.days] };
    this.at = HEADER.length;
    this.bufferedRows = 0;
    this.days.clear();
    this.lastDay = -1;
    return rows;
  }

  private takeBytes(): Buffer {
    const size = this.at + TRAILER.length;
    const bytes = this.buffer.subarray(0, size);
    // A waiting batch of ten rows must not hold memory for thousands.
    if (size < SLAB_BYTES / 2) return Buffer.from(bytes);
    this.buffer = this.newBuffer();
    return bytes;
  }

  private newBuffer(): Buffer {
    const buffer = this.memory.take();
    HEADER.copy(buffer);
    return buffer;
  }

  private reserve(row: QueryLogRow): void {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    const { rule, upstream, answers } = row;
    const ruleLength =
      rule === null ? 0 : rule.source.length + rule.before.length + rule.after.length + MAX_NAME_SIZE;
    const needed =
      this.at + MAX_BASE_SIZE + 3 * (ruleLength + (upstream === null ? 0 : upstream.length)) + answers.length;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(larger, 0, 0, this.at);
    this.memory.giveBack(this.buffer);
    this.buffer = larger;
  }

  private writeFixed(row: QueryLogRow, timestampMs: number): void {
    const out = this.buffer;
    let at = this.at;
    out[at] = 0;
    out[at + 1] = COLUMN_COUNT;
    const timestampUs = Math.round((timestampMs - POSTGRES_EPOCH_MS) * 1000);
    put32(out, at + 2, 8);
    put32(out, at + 6, Math.floor(timestampUs / 0x1_0000_0000));
    put32(out, at + 10, timestampUs % 0x1_0000_0000);
    at = put32Column(out, at + 14, this.nodeId);
    at = put32Column(out, at, row.groupId);
    at = put32Column(out, at, Math.min(row.responseTimeUs, 0x7fff_ffff));
    at = put16Column(out, at, row.qtype);
    at = put16Column(out, at, row.rcode);
    at = put16Column(out, at, row.status);
    at = put16Column(out, at, row.protocol);
    at = put16Column(out, at, row.dnssec);
    put32(out, at, 1);
    out[at + 4] = row.cached ? 1 : 0;
    this.at = at + 5;
  }

  private writeClient(bytes: Uint8Array, client: ByteRange, privacy: QueryLogPrivacy): void {
    const out = this.buffer;
    const at = this.at;
    const start = isMappedIpv4(bytes, client) ? client.at + 12 : client.at;
    const length = client.at + client.length - start === 4 ? 4 : 16;
    const kept = keptClientBytes(privacy, length);
    put32(out, at, 4 + length);
    out[at + 4] = length === 4 ? FAMILY.ipv4 : FAMILY.ipv6;
    out[at + 5] = length * 8;
    out[at + 6] = 0;
    out[at + 7] = length;
    for (let i = 0; i < length; i++) out[at + 8 + i] = i < kept ? bytes[start + i]! : 0;
    this.at = at + 8 + length;
  }

  private writeName(bytes: Uint8Array, name: ByteRange): void {
    const start = this.at + 4;
    const end = putName(this.buffer, start, bytes, name);
    put32(this.buffer, this.at, end - start);
    this.at = end;
  }

  private writeRule(rule: LoggedRule, bytes: Uint8Array, name: ByteRange): void {
    this.writeText(rule.source);
    if (!rule.atName) return this.writeText(rule.before);
    const out = this.buffer;
    const start = this.at + 4;
    let at = putText(out, start, rule.before);
    at = putName(out, at, bytes, name);
    at = putText(out, at, rule.after);
    put32(out, this.at, at - start);
    this.at = at;
  }

  private writeText(text: string | null): void {
    if (text === null) return this.writeNull();
    const start = this.at + 4;
    const end = putText(this.buffer, start, text);
    put32(this.buffer, this.at, end - start);
    this.at = end;
  }

  private writeBytes(bytes: Uint8Array, { at: from, length }: ByteRange): void {
    put32(this.buffer, this.at, length);
    const out = this.buffer;
    const start = this.at + 4;
    for (let i = 0; i < length; i++) out[start + i] = bytes[from + i]!; // Short: `set()` costs more than it saves.
    this.at = start + length;
  }

  private writeNull(): void {
    put32(this.buffer, this.at, -1);
    this.at += 4;
  }
}

function isMappedIpv4(bytes: Uint8Array, { at, length }: ByteRange): boolean {
  if (length !== 16 || bytes[at + 10] !== 0xff || bytes[at + 11] !== 0xff) return false;
  for (let i = 0; i < 10; i++) if (bytes[at + i] !== 0) return false;
  return true;
}

/** Presentation form without a final dot, as `nameToText()` of shared/dns makes it, but folded. */
function putName(out: Buffer, start: number, bytes: Uint8Array, name: ByteRange): number {
  let at = start;
  for (let from = name.at; bytes[from] !== 0;) {
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

function putText(out: Buffer, at: number, text: string): number {
  const length = putAscii(out, at, text);
  // PostgreSQL stores no NUL in a text, and one bad rule must not cost a whole batch.
  return at + (length < 0 ? out.write(text.replaceAll('\0', ''), at, 'utf8') : length);
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
