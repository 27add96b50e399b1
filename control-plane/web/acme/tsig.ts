/** Signatures of messages by a shared key: TSIG (RFC 8945). Bytes only. */
import { faultForm } from '../../../shared/api/client/faults/fault-text.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { RRClass, RRType } from '../../../shared/dns/iana.ts';
import { skipName, skipRecord } from '../../../shared/dns/wire.ts';
import { u16, u32, wireName } from './message-parts.ts';

const FUDGE_SECS = 300;
const HEADER_SIZE = 12;
/** Offset of the number of additional records in a header. */
const ADDITIONAL_AT = 10;
/** Size of time signed, fudge and size of the MAC, and of original id, error and length of other data. */
const BEFORE_MAC = 10;
const AFTER_MAC = 6;

/** HMAC algorithms by their name in the configuration. */
export const TSIG_ALGORITHMS = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const;
export type TsigAlgorithm = (typeof TSIG_ALGORITHMS)[number];

/** A key for TSIG. */
export interface TsigKey {
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Uint8Array;
}

/** A message with a TSIG record, and the MAC in it. */
interface Signed {
  readonly bytes: Buffer;
  readonly mac: Buffer;
}

/** The message with a TSIG record (RFC 8945 section 4.2). */
export function signMessage(message: Buffer, key: TsigKey, nowMs: number): Signed {
  const time = Buffer.alloc(8);
  time.writeUIntBE(Math.floor(nowMs / 1000), 0, 6);
  time.writeUInt16BE(FUDGE_SECS, 6);
  const mac = macOf(key, [message], time, u16(0, 0));
  const rdata = [wireName(key.algorithm), time, u16(mac.length), mac, message.subarray(0, 2), u16(0, 0)];
  const size = rdata.reduce((sum, { length }) => sum + length, 0);
  const owner = [wireName(key.name.toLowerCase()), u16(RRType.TSIG, RRClass.ANY), u32(0), u16(size)];
  const bytes = Buffer.concat([message, ...owner, ...rdata]);
  bytes.writeUInt16BE(bytes.readUInt16BE(ADDITIONAL_AT) + 1, ADDITIONAL_AT);
  return { bytes, mac };
}

/**
 * Why a reply does not prove that its server has the key (RFC 8945 section 5.3); null if it does. `requestMac` is that of
 * the signed request.
 */
export function replyFault(
  bytes: Uint8Array,
  requestMac: Uint8Array,
  key: TsigKey,
  nowMs: number,
): string | null {
  const reply = Buffer.from(bytes);
  const at = lastRecordAt(reply);
  const tail = at < 0 ? -1 : skipName(reply, at, reply.length);
  if (tail < 0 || skipRecord(reply, at, reply.length) !== reply.length) return faultForm('tsig_unsigned');
  if (reply.readUInt16BE(tail) !== RRType.TSIG) return faultForm('tsig_unsigned');
  const rdataAt = tail + 10;
  const timeAt = skipName(reply, rdataAt, reply.length);
  if (timeAt < 0 || timeAt + BEFORE_MAC + AFTER_MAC > reply.length) return faultForm('tsig_damaged');
  const algorithm = reply.toString('latin1', rdataAt, timeAt).toLowerCase();
  if (algorithm !== wireName(key.algorithm).toString('latin1')) return faultForm('tsig_algorithm');
  const macAt = timeAt + BEFORE_MAC;
  const macEnd = macAt + reply.readUInt16BE(macAt - 2);
  if (macEnd + AFTER_MAC > reply.length) return faultForm('tsig_damaged');
  const message = Buffer.from(reply.subarray(0, at));
  reply.copy(message, 0, macEnd, macEnd + 2);
  message.writeUInt16BE(message.readUInt16BE(ADDITIONAL_AT) - 1, ADDITIONAL_AT);
  const signed = [u16(requestMac.length), requestMac, message];
  const expected = macOf(key, signed, reply.subarray(timeAt, timeAt + 8), reply.subarray(macEnd + 2));
  const mac = reply.subarray(macAt, macEnd);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return faultForm('tsig_wrong');
  const signedSecs = reply.readUIntBE(timeAt, 6);
  const isLate = Math.abs(nowMs / 1000 - signedSecs) > reply.readUInt16BE(timeAt + 6);
  return isLate ? faultForm('tsig_time') : null;
}

/** The MAC of a message: over the message, the variables of the key, the time, and error and other data. */
function macOf(
  { name, algorithm, secret }: TsigKey,
  message: readonly Uint8Array[],
  time: Uint8Array,
  end: Uint8Array,
): Buffer {
  const hmac = createHmac(algorithm.replace('hmac-', ''), secret);
  const owner = [wireName(name.toLowerCase()), u16(RRClass.ANY), u32(0), wireName(algorithm)];
  for (const part of [...message, ...owner, time, end]) hmac.update(part);
  return hmac.digest();
}

/** Offset of the last additional record; -1 if there is none. */
function lastRecordAt(message: Buffer): number {
  if (message.length < HEADER_SIZE || message.readUInt16BE(ADDITIONAL_AT) === 0) return -1;
  const [questions, ...records] = [4, 6, 8, 10].map((offset) => message.readUInt16BE(offset));
  let at = HEADER_SIZE;
  for (let left = questions!; left > 0 && at >= 0; left--) {
    at = skipName(message, at, message.length);
    if (at >= 0) at += 4;
  }
  const before = records.reduce((sum, count) => sum + count, -1);
  for (let left = before; left > 0 && at >= 0; left--) at = skipRecord(message, at, message.length);
  return at;
}
