/**
 * Builds response messages byte by byte, so that tests can write messages that no encoder would produce: uncompressed,
 * unordered, or malformed. `shared/dns/codec.ts` can parse them.
 */
import { RRClass, RRType } from '../../../shared/dns/iana.ts';
import type { RRTypeName } from '../../../shared/dns/iana.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import type { Question } from '../../../dns-worker/resolve/response/question.ts';

/** A record to write. `owner` and the names in `rdata` are in presentation form or raw bytes. */
export interface TestRecord {
  readonly owner: string | Uint8Array;
  readonly type: RRTypeName | number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
  readonly rrClass?: number;
}

/** Parts of a response; omitted parts are empty or zero. */
export interface TestResponse {
  readonly id?: number;
  /** The 16 flag bits; 0x8180 (QR, RD, RA) by default. */
  readonly flags?: number;
  readonly answers?: readonly TestRecord[];
  readonly authorities?: readonly TestRecord[];
  readonly additionals?: readonly TestRecord[];
}

/** A question of class IN. */
export function question(
  name: string,
  type: RRTypeName | number,
  flags: { dnssecOk?: boolean; checkingDisabled?: boolean; ecs?: Uint8Array } = {},
): Question {
  return {
    qname: wireName(name),
    qtype: typeCode(type),
    qclass: RRClass.IN,
    dnssecOk: flags.dnssecOk ?? false,
    checkingDisabled: flags.checkingDisabled ?? false,
    ecs: flags.ecs ?? null,
  };
}

function typeCode(type: RRTypeName | number): number {
  return typeof type === 'number' ? type : RRType[type];
}

/** Wire form of a name; throws if the name is not valid. */
export function wireName(name: string): Uint8Array {
  const wire = nameFromText(name);
  if (wire === null) throw new Error(`encode name: ${name} is not valid`);
  return wire;
}

/** Concatenated bytes. */
export function octets(...parts: (Uint8Array | readonly number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** A big-endian u16. */
export function u16(value: number): number[] {
  return [(value >>> 8) & 0xff, value & 0xff];
}

/** A big-endian u32. */
export function u32(value: number): number[] {
  return [...u16(value >>> 16), ...u16(value & 0xffff)];
}

/** An A record. */
export function a(owner: string | Uint8Array, ip: string, ttl = 300): TestRecord {
  return { owner, type: 'A', ttl, rdata: Uint8Array.from(ip.split('.').map(Number)) };
}

/** A CNAME record. */
export function cname(owner: string, target: string, ttl = 300): TestRecord {
  return { owner, type: 'CNAME', ttl, rdata: wireName(target) };
}

/** A DNAME record. */
export function dname(owner: string, target: string, ttl = 300): TestRecord {
  return { owner, type: 'DNAME', ttl, rdata: wireName(target) };
}

/** An NS record. */
export function ns(owner: string, target: string, ttl = 300): TestRecord {
  return { owner, type: 'NS', ttl, rdata: wireName(target) };
}

/** A SOA record with this MINIMUM. */
export function soa(owner: string, ttl: number, minimum: number): TestRecord {
  const rdata = octets(
    wireName(`ns.${owner}`),
    wireName(`root.${owner}`),
    u32(1),
    u32(2),
    u32(3),
    u32(4),
    u32(minimum),
  );
  return { owner, type: 'SOA', ttl, rdata };
}

/** An RRSIG that covers this type; its signature is noise. */
export function rrsig(owner: string, covered: RRTypeName, ttl = 300): TestRecord {
  const fixed = [...u16(RRType[covered]), 13, 2, ...u32(300), ...u32(2), ...u32(1), ...u16(7)];
  return { owner, type: 'RRSIG', ttl, rdata: octets(fixed, wireName('example.org'), [1, 2, 3, 4]) };
}

/** An OPT record with one option. */
export function optWith(code: number, data: Uint8Array): TestRecord {
  return { ...opt(), rdata: octets(u16(code), u16(data.length), data) };
}

/** An OPT record with these upper bits of the rcode. */
export function opt(extendedRcode = 0): TestRecord {
  return { owner: '.', type: 'OPT', ttl: extendedRcode * 0x1000000, rdata: new Uint8Array(0), rrClass: 1232 };
}

/** A response to `asked` with these parts. */
export function response(asked: Question, parts: TestResponse = {}): Uint8Array {
  const { answers = [], authorities = [], additionals = [] } = parts;
  const counts = [1, answers.length, authorities.length, additionals.length].flatMap(u16);
  return octets(
    u16(parts.id ?? 0),
    u16(parts.flags ?? 0x8180),
    counts,
    asked.qname,
    u16(asked.qtype),
    u16(asked.qclass),
    ...[...answers, ...authorities, ...additionals].map(record),
  );
}

function record(from: TestRecord): Uint8Array {
  const owner = typeof from.owner === 'string' ? wireName(from.owner) : from.owner;
  const fixed = [...u16(typeCode(from.type)), ...u16(from.rrClass ?? RRClass.IN), ...u32(from.ttl)];
  return octets(owner, fixed, u16(from.rdata.length), from.rdata);
}

/** The question of a query and its DO bit, read from its bytes. Other parts of EDNS are ignored. */
export function questionOf(query: Uint8Array): Question {
  let end = 12;
  while (query[end] !== 0) end += query[end]! + 1;
  end++;
  return {
    qname: query.slice(12, end),
    qtype: (query[end]! << 8) | query[end + 1]!,
    qclass: (query[end + 2]! << 8) | query[end + 3]!,
    dnssecOk: query.length > end + 4 && (query[end + 11]! & 0x80) !== 0,
    checkingDisabled: (query[3]! & 0x10) !== 0,
    ecs: null,
  };
}

/** The id of a message. */
export function idOf(message: Uint8Array): number {
  return (message[0]! << 8) | message[1]!;
}
