/**
 * Messages of dynamic updates (RFC 2136) of TXT records, signed with TSIG (RFC 8945). Bytes only: `dns-challenges.ts`
 * sends them.
 */
import { randomInt } from 'node:crypto';
import { Opcode, RRClass, RRType } from '../../../shared/dns/iana.ts';
import { acmeFault } from './acme-http.ts';
import { u16, u32, wireName } from './message-parts.ts';
import { signMessage } from './tsig.ts';
import type { TsigKey } from './tsig.ts';

const UPDATE_FLAGS = Opcode.UPDATE << 11;
const TTL_SECS = 60;
const MAX_STRING = 255;

/** One TXT record. */
export interface TxtRecord {
  readonly name: string;
  readonly text: string;
}

/** A message and its id. */
export interface DnsRequest {
  readonly id: number;
  readonly bytes: Buffer;
  /** MAC of the message's TSIG record; null = there is none. */
  readonly mac: Buffer | null;
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
    if (data.length > MAX_STRING) throw acmeFault('acme_long_proof');
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
  return key === null ? { id, bytes: message, mac: null } : { id, ...signMessage(message, key, nowMs) };
}

/** Queries the SOA of a name, whose owner is the zone of the name. */
export function soaRequest(name: string): DnsRequest {
  const id = randomInt(0x1_0000);
  const parts = [u16(id, 0, 1, 0, 0, 0), wireName(name), u16(RRType.SOA, RRClass.IN)];
  return { id, bytes: Buffer.concat(parts), mac: null };
}
