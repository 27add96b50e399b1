/**
 * Messages of dynamic updates (RFC 2136) of TXT records, signed with TSIG (RFC 8945). Bytes only: `dns-challenges.ts`
 * sends them.
 */
import { createHmac, randomInt } from 'node:crypto';
import { Opcode, RRClass, RRType } from '../../../shared/dns/iana.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { AcmeFault } from './acme-http.ts';

const UPDATE_FLAGS = Opcode.UPDATE << 11;
const TTL_SECS = 60;
const FUDGE_SECS = 300;
const MAX_STRING = 255;

/** HMAC algorithms by their name in the configuration. */
export const TSIG_ALGORITHMS = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const;
export type TsigAlgorithm = (typeof TSIG_ALGORITHMS)[number];

/** A key for TSIG. */
export interface TsigKey {
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Uint8Array;
}

/** One TXT record. */
export interface TxtRecord {
  readonly name: string;
  readonly text: string;
}

/** A message and its id. */
export interface DnsRequest {
  readonly id: number;
  readonly bytes: Buffer;
}

/** Adds or removes records of a zone. */
export function updateRequest(
  zone: string,
  action: 'add' | 'remove',
  records: readonly TxtRecord[],
  key: TsigKey | null,
  nowMs: number,
): DnsRequest {
  const id = randomInt(0x1_0000);
  const updates = records.map(({ name, text }) => {
    const data = Buffer.from(text);
    if (data.length > MAX_STRING) throw new AcmeFault('the challenge response is longer than a TXT string');
    const rdata = Buffer.concat([Buffer.of(data.length), data]);
    const [klass, ttl] = action === 'add' ? [RRClass.IN, TTL_SECS] : [RRClass.NONE, 0];
    return Buffer.concat([wireName(name), u16(RRType.TXT, klass), u32(ttl), u16(rdata.length), rdata]);
  });
  const message = Buffer.concat([
    u16(id, UPDATE_FLAGS, 1, 0, updates.length, 0),
    wireName(zone),
    u16(RRType.SOA, RRClass.IN),
    ...updates,
  ]);
  return { id, bytes: key === null ? message : signed(message, key, nowMs) };
}

/** Asks for the SOA of a name, which shows its zone. */
export function soaRequest(name: string): DnsRequest {
  const id = randomInt(0x1_0000);
  return { id, bytes: Buffer.concat([u16(id, 0, 1, 0, 0, 0), wireName(name), u16(RRType.SOA, RRClass.IN)]) };
}

/** The message with a TSIG record (RFC 8945 section 4.2). */
function signed(message: Buffer, { name, algorithm, secret }: TsigKey, nowMs: number): Buffer {
  const [keyName, algorithmName] = [wireName(name.toLowerCase()), wireName(algorithm)];
  const time = Buffer.alloc(8);
  time.writeUIntBE(Math.floor(nowMs / 1000), 0, 6);
  time.writeUInt16BE(FUDGE_SECS, 6);
  const variables = [keyName, u16(RRClass.ANY), u32(0), algorithmName, time, u16(0, 0)];
  const hmac = createHmac(algorithm.replace('hmac-', ''), secret).update(message);
  for (const part of variables) hmac.update(part);
  const mac = hmac.digest();
  const id = message.subarray(0, 2);
  const rdata = Buffer.concat([algorithmName, time, u16(mac.length), mac, id, u16(0, 0)]);
  const record = [keyName, u16(RRType.TSIG, RRClass.ANY), u32(0), u16(rdata.length), rdata];
  const whole = Buffer.concat([message, ...record]);
  whole.writeUInt16BE(whole.readUInt16BE(10) + 1, 10);
  return whole;
}

function wireName(text: string): Buffer {
  const wire = nameFromText(text);
  if (wire === null) throw new AcmeFault(`"${text}" is not a domain name`);
  return Buffer.from(wire);
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => bytes.writeUInt16BE(value, index * 2));
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
