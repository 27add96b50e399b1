/**
 * Messages as objects, for code outside the hot path. Only this file imports dns-packet, which is too lenient for
 * untrusted input (it drops bytes of unusual labels and accepts labels of 64 bytes) and does not compress names, so
 * relayed answers never pass through it.
 */
import * as packet from 'dns-packet';
import type { Answer, DecodedPacket, Packet } from 'dns-packet';

export type { Answer, DecodedPacket, Packet } from 'dns-packet';

/** The RD flag, which is set in queries to a resolver. */
export const { RECURSION_DESIRED } = packet;

/** Decodes a message; null if dns-packet cannot decode it. */
export function decodeMessage(bytes: Uint8Array): DecodedPacket | null {
  try {
    return packet.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch {
    return null;
  }
}

/** Encodes a message with uncompressed names; throws the errors of dns-packet. */
export function encodeMessage(message: Packet): Uint8Array {
  return packet.encode(message);
}

/** Header of a response with one answer; its owner is the root, its class IN, its TTL 0. */
const ONE_ANSWER = [0, 0, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0];

/**
 * Decodes the RDATA of a record of the given type code. Null if dns-packet cannot decode it, or loses a byte: the
 * decoded record is encoded again and compared.
 */
export function decodeRdata(type: number, rdata: Uint8Array): Answer | null {
  const tail = [type >> 8, type & 0xff, 0, 1, 0, 0, 0, 0, rdata.length >> 8, rdata.length & 0xff];
  const message = Buffer.from([...ONE_ANSWER, ...tail, ...rdata]);
  const decoded = decodeMessage(message);
  try {
    return decoded !== null && message.equals(encodeMessage(decoded)) ? (decoded.answers?.[0] ?? null) : null;
  } catch {
    return null;
  }
}
