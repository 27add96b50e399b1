/**
 * Builds queries byte by byte, and parses replies for tests. Names are sent in the case in which they are written.
 * Replies are parsed with `shared/dns/codec.ts`, which is independent of Weir's own parser.
 */
import { decodeMessage } from '../../../shared/dns/codec.ts';
import type { DecodedPacket } from '../../../shared/dns/codec.ts';
import { RRClass, RRType } from '../../../shared/dns/iana.ts';
import type { RRTypeName } from '../../../shared/dns/iana.ts';
import { octets, u16 } from './built-messages.ts';

/** A type by its name or number. */
export type TypeSpec = RRTypeName | number;

/** Options of a query in addition to the question. */
export interface QueryOptions {
  readonly id?: number;
  /** The 16 flag bits; only RD by default. */
  readonly flags?: number;
  readonly qclass?: number;
  /** Adds an OPT record. */
  readonly edns?: {
    readonly udpSize?: number;
    readonly version?: number;
    readonly dnssecOk?: boolean;
    /** Data of ECS options (RFC 7871), valid or not. */
    readonly subnets?: readonly (readonly number[])[];
    /** Data of a cookie option (RFC 7873), valid or not. */
    readonly cookie?: Uint8Array | undefined;
  };
}

const RD = 0x0100;
const EDE_CODE = 15;
const SUBNET_CODE = 8;
const COOKIE_CODE = 10;

/** The wire form of a name, preserving its case. */
export function nameOctets(name: string): Uint8Array {
  const labels = name.split('.').filter((label) => label !== '');
  return octets(...labels.map((label) => [label.length, ...Buffer.from(label, 'latin1')]), [0]);
}

/** A query. */
export function query(name: string, type: TypeSpec, options: QueryOptions = {}): Uint8Array {
  const { id = 0, flags = RD, qclass = RRClass.IN, edns } = options;
  return octets(
    [...u16(id), ...u16(flags), ...u16(1), ...u16(0), ...u16(0), ...u16(edns === undefined ? 0 : 1)],
    nameOctets(name),
    u16(typeof type === 'number' ? type : RRType[type]),
    u16(qclass),
    edns === undefined ? [] : opt(edns),
  );
}

function opt({
  udpSize = 1232,
  version = 0,
  dnssecOk = false,
  subnets = [],
  cookie,
}: NonNullable<QueryOptions['edns']>): number[] {
  const options = subnets.flatMap((data) => [...u16(SUBNET_CODE), ...u16(data.length), ...data]);
  if (cookie !== undefined) options.push(...u16(COOKIE_CODE), ...u16(cookie.length), ...cookie);
  const flags = [0, version, dnssecOk ? 0x80 : 0, 0];
  return [0, ...u16(RRType.OPT), ...u16(udpSize), ...flags, ...u16(options.length), ...options];
}

/** A reply and its source. */
export class Reply {
  readonly bytes: Uint8Array;
  readonly message: DecodedPacket;
  /** Source address of a datagram; empty over TCP. */
  readonly from: string;

  constructor(bytes: Uint8Array, from: string) {
    const message = decodeMessage(bytes);
    if (message === null) throw new Error(`read reply: ${Buffer.from(bytes).toString('hex')} is malformed`);
    this.bytes = bytes;
    this.message = message;
    this.from = from;
  }

  get id(): number {
    return (this.bytes[0]! << 8) | this.bytes[1]!;
  }

  /** The response code in the header, which has four bits; `extendedRcode` includes the bits of EDNS. */
  get rcode(): number {
    return this.bytes[3]! & 0xf;
  }

  get truncated(): boolean {
    return (this.bytes[2]! & 0x02) !== 0;
  }

  /** Type, TTL and data of each answer record, in order. */
  get answers(): {
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly data: unknown;
  }[] {
    return recordsOf(this.message.answers);
  }

  get authorities(): {
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly data: unknown;
  }[] {
    return recordsOf(this.message.authorities);
  }

  /** Records of the additional section, without OPT. */
  get additionals(): {
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly data: unknown;
  }[] {
    return recordsOf((this.message.additionals ?? []).filter(({ type }) => type !== 'OPT'));
  }

  /** Data of the answers alone. */
  get data(): unknown[] {
    return this.answers.map(({ data }) => data);
  }

  /** The OPT record, if any. */
  get opt(): {
    readonly udpSize: number;
    readonly version: number;
    readonly extendedRcode: number;
    readonly dnssecOk: boolean;
  } | null {
    const record = this.optRecord();
    if (record === undefined) return null;
    const { udpPayloadSize: udpSize, ednsVersion: version, extendedRcode, flag_do: dnssecOk } = record;
    return { udpSize, version, extendedRcode: extendedRcode * 16 + this.rcode, dnssecOk };
  }

  /** Info codes of the extended errors (RFC 8914). */
  get extendedErrors(): number[] {
    const options = this.optRecord()?.options ?? [];
    return options.filter(({ code }) => code === EDE_CODE).map(({ data }) => data.readUInt16BE(0));
  }

  /** Data of the cookie option (RFC 7873), if there is one. */
  get cookie(): Uint8Array | undefined {
    return this.optRecord()?.options.find(({ code }) => code === COOKIE_CODE)?.data;
  }

  /** Data of the ECS options (RFC 7871). */
  get subnets(): number[][] {
    return subnetsOf(this.message);
  }

  private optRecord(): OptRecord | undefined {
    return optOf(this.message);
  }
}

/** Data of the ECS options of a message (RFC 7871). */
export function subnetsOf(message: DecodedPacket): number[][] {
  const options = optOf(message)?.options ?? [];
  return options.filter(({ code }) => code === SUBNET_CODE).map(({ data }) => [...data]);
}

function optOf(message: DecodedPacket): OptRecord | undefined {
  const records = (message.additionals ?? []) as unknown as OptRecord[];
  return records.find(({ type }) => type === 'OPT');
}

interface OptRecord {
  readonly type: string;
  readonly udpPayloadSize: number;
  readonly ednsVersion: number;
  readonly extendedRcode: number;
  readonly flag_do: boolean;
  readonly options: readonly { readonly code: number; readonly data: Buffer }[];
}

function recordsOf(records: DecodedPacket['answers']) {
  return (records ?? []).map((record) => {
    const {
      name,
      type,
      ttl = 0,
      data,
    } = record as unknown as { name: string; type: string; ttl?: number; data: unknown };
    return { name, type, ttl, data };
  });
}
