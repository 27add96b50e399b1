/**
 * Converts the `answers` of a log row, which are resource records in wire form, to the form of the API. Compressed
 * names in the records may refer to the question, so a message with the question is rebuilt first. Names and the common
 * types are decoded here, because dns-packet loses bytes of unusual labels. Data that the caller's `rdataText()` does
 * not support is shown in the generic form of RFC 3597 section 5.
 */
import { MAX_NAME_LENGTH, nameFromText, nameToText } from '../../../shared/dns/name.ts';
import { RRType, rrTypeName } from '../../../shared/dns/iana.ts';
import {
  Header,
  QUESTION_TAIL_SIZE,
  readU16,
  readU32,
  Record,
  skipName,
  skipRecord,
} from '../../../shared/dns/wire.ts';
import { addressToText } from '../../../shared/net/ip.ts';

/** One record of an answer. */
export interface StoredAnswer {
  readonly name: string;
  readonly type: string;
  /** Seconds, as sent. */
  readonly ttl: number;
  /** Presentation form of the data. */
  readonly data: string;
}

/** Function that returns the text of RDATA whose type is not decoded here; null if it cannot. */
export type RareRdataText = (type: number, rdata: Uint8Array) => string | null;

/**
 * Decodes the answers to a question about `domain`; stops before damaged or truncated records. `rareText` is
 * `rdataText()`, or absent if only common types occur: `rdataText()` loads dns-packet, which must not delay the start
 * of the process.
 */
export function decodeStoredAnswers(
  domain: string,
  records: Uint8Array,
  rareText: RareRdataText = () => null,
): StoredAnswer[] {
  const qname = nameFromText(domain);
  if (qname === null) return [];
  const start = Header.SIZE + qname.length + QUESTION_TAIL_SIZE;
  const message = new Uint8Array(start + records.length);
  message.set(qname, Header.SIZE);
  message.set(records, start);
  const answers: StoredAnswer[] = [];
  for (let at = start; at < message.length;) {
    const next = skipRecord(message, at, message.length);
    const answer = next < 0 ? null : readRecord(message, at, next, rareText);
    if (answer === null) break;
    answers.push(answer);
    at = next;
  }
  return answers;
}

function readRecord(
  message: Uint8Array,
  at: number,
  end: number,
  rareText: RareRdataText,
): StoredAnswer | null {
  const name = nameAt(message, at);
  if (name === null) return null;
  const head = skipName(message, at, end);
  const type = readU16(message, head + Record.TYPE);
  const ttl = readU32(message, head + Record.TTL);
  const rdata = head + Record.RDATA;
  return {
    name,
    type: rrTypeName(type),
    ttl,
    data:
      presentation(message, type, rdata, end) ??
      rareText(type, message.subarray(rdata, end)) ??
      generic(message, rdata, end),
  };
}

/** Presentation form of RDATA of the common types; null for another type or invalid data. */
function presentation(message: Uint8Array, type: number, at: number, end: number): string | null {
  const length = end - at;
  switch (type) {
    case RRType.A:
      return length === 4 ? message.subarray(at, end).join('.') : null;
    case RRType.AAAA:
      return length === 16 ? addressToText(message, at) : null;
    case RRType.CNAME:
    case RRType.NS:
    case RRType.PTR:
      return nameAt(message, at);
    case RRType.MX:
      return length < 3 ? null : withNumbers([readU16(message, at)], nameAt(message, at + 2));
    case RRType.SRV:
      return length < 7
        ? null
        : withNumbers(
            [0, 2, 4].map((i) => readU16(message, at + i)),
            nameAt(message, at + 6),
          );
    case RRType.TXT:
      return texts(message, at, end);
    default:
      return null;
  }
}

function withNumbers(numbers: readonly number[], name: string | null): string | null {
  return name === null ? null : [...numbers, name].join(' ');
}

function texts(message: Uint8Array, at: number, end: number): string | null {
  const parts: string[] = [];
  for (let from = at; from < end;) {
    const to = from + 1 + message[from]!;
    if (to > end) return null;
    let part = '';
    for (let i = from + 1; i < to; i++) part += textByte(message[i]!);
    parts.push(`"${part}"`);
    from = to;
  }
  return parts.join(' ');
}

function textByte(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`;
}

function generic(message: Uint8Array, at: number, end: number): string {
  return `\\# ${end - at} ${Buffer.from(message.subarray(at, end)).toString('hex')}`.trimEnd();
}

/** Text of the name at an offset, following pointers; null if it is invalid. Pointers must go backwards. */
function nameAt(message: Uint8Array, start: number): string | null {
  const wire = new Uint8Array(MAX_NAME_LENGTH + 1);
  let length = 0;
  let lowest = start;
  for (let at = start; ;) {
    const byte = message[at];
    if (byte === undefined) return null;
    if (byte === 0) return nameToText(wire);
    if ((byte & 0xc0) === 0xc0) {
      const target = readU16(message, at) & 0x3fff;
      if (at + 1 >= message.length || target >= lowest) return null;
      lowest = target;
      at = target;
      continue;
    }
    if (byte > 63 || at + byte >= message.length || length + byte + 2 > MAX_NAME_LENGTH) return null;
    wire.set(message.subarray(at, at + byte + 1), length);
    length += byte + 1;
    at += byte + 1;
  }
}
