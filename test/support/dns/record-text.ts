/** Records in presentation form for validation tests; only the types in the examples of the RFCs. */
import { readRRsets, type SignedRRset } from '../../../dns-worker/dnssec/answer-records.ts';
import type { CacheableAnswer } from '../../../dns-worker/resolve/response/cacheable-answer.ts';
import { rrTypeCode } from '../../../shared/dns/iana.ts';
import { octets, u16, u32, wireName } from './built-messages.ts';

/** A record as bytes. */
export interface TextRecord {
  readonly owner: Uint8Array;
  readonly type: number;
  readonly ttlSecs: number;
  readonly rdata: Uint8Array;
}

/** Parses lines `owner ttl type rdata...`; empty lines are skipped. */
export function readRecords(text: string): TextRecord[] {
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length > 3)
    .map(([owner, ttl, type, ...rdata]) => ({
      owner: wireName(owner!),
      type: code(type!),
      ttlSecs: Number(ttl),
      rdata: readRdata(type!, rdata),
    }));
}

/** Groups the records into RRsets with their signatures, as parsing an answer does. */
export function signedSets(answers: string, authority = ''): SignedRRset[] {
  return readRRsets(Uint8Array.of(0), textAnswer(answers, authority));
}

/** An answer with these records; `rest` overrides other fields. */
export function textAnswer(
  answers: string,
  authority = '',
  rest: Partial<CacheableAnswer> = {},
): CacheableAnswer {
  const sections = [readRecords(answers), readRecords(authority)];
  const records = sections.flat();
  const parts = records.map(({ owner, type, ttlSecs, rdata }) =>
    octets(owner, u16(type), u16(1), u32(ttlSecs), u16(rdata.length), rdata),
  );
  let at = 0;
  const ttlOffsets = parts.map((part, i) => {
    at += part.length;
    return at - part.length + records[i]!.owner.length + 4;
  });
  return {
    rcode: 0,
    authenticated: false,
    answerCount: sections[0]!.length,
    authorityCount: sections[1]!.length,
    body: octets(...parts),
    ttlOffsets: Uint16Array.from(ttlOffsets),
    minTtlSecs: Math.min(...records.map((record) => record.ttlSecs)),
    negative: sections[0]!.length === 0,
    answersLength: 0,
    ecsScope: 0,
    ...rest,
  };
}

function code(type: string): number {
  const known = rrTypeCode(type);
  if (known === undefined) throw new Error(`read record: ${type} is not a type`);
  return known;
}

function readRdata(type: string, fields: readonly string[]): Uint8Array {
  const [a = '', b = '', c = '', d = '', e = ''] = fields;
  switch (type) {
    case 'A':
      return Uint8Array.from(a.split('.').map(Number));
    case 'AAAA':
      return Uint8Array.from(Buffer.from(a, 'hex'));
    case 'NS':
    case 'CNAME':
    case 'DNAME':
      return wireName(a);
    case 'MX':
      return octets(u16(Number(a)), wireName(b));
    case 'HINFO':
      return octets([a.length, ...Buffer.from(a)], [b.length, ...Buffer.from(b)]);
    case 'SOA':
      return octets(wireName(a), wireName(b), ...fields.slice(2).map((it) => u32(Number(it))));
    case 'DS':
      return octets(u16(Number(a)), [Number(b), Number(c)], Buffer.from(fields.slice(3).join(''), 'hex'));
    case 'DNSKEY':
      return octets(u16(Number(a)), [Number(b), Number(c)], Buffer.from(fields.slice(3).join(''), 'base64'));
    case 'NSEC':
      return octets(wireName(a), typeBitmap(fields.slice(1)));
    case 'NSEC3': {
      const salt = d === '-' ? Buffer.alloc(0) : Buffer.from(d, 'hex');
      const next = base32Hex(e);
      const head = octets([Number(a), Number(b)], u16(Number(c)), [salt.length], salt, [next.length], next);
      return octets(head, typeBitmap(fields.slice(5)));
    }
    case 'RRSIG':
      return readRrsigText(fields);
    default:
      throw new Error(`read record: ${type} is not supported by this fixture`);
  }
}

function readRrsigText(fields: readonly string[]): Uint8Array {
  const [covered, algorithm, labels, ttl, expiration, inception, tag, signer, ...signature] = fields;
  return octets(
    u16(code(covered!)),
    [Number(algorithm), Number(labels)],
    ...[Number(ttl), seconds(expiration!), seconds(inception!)].map(u32),
    u16(Number(tag)),
    wireName(signer!),
    Buffer.from(signature.join(''), 'base64'),
  );
}

/** `YYYYMMDDHHmmSS` or seconds since the epoch (RFC 4034 section 3.2). */
function seconds(text: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text);
  if (match === null) return Number(text);
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}

/** Type bit maps of RFC 4034 section 4.1.2, in windows of 256 types. */
function typeBitmap(types: readonly string[]): Uint8Array {
  const windows = new Map<number, number[]>();
  for (const type of types.map(code)) {
    const bits = windows.get(type >>> 8) ?? [];
    windows.set(type >>> 8, bits);
    const at = (type & 0xff) >>> 3;
    while (bits.length <= at) bits.push(0);
    bits[at]! |= 0x80 >>> (type & 7);
  }
  const sorted = [...windows].sort(([a], [b]) => a - b);
  return octets(...sorted.map(([window, bits]) => [window, bits.length, ...bits]));
}

/** RFC 4648 section 7. */
function base32Hex(text: string): Uint8Array {
  const bits = Array.from(text.toLowerCase(), (it) => parseInt(it, 32).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (octet) => parseInt(octet, 2));
}
