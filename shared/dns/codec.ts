/**
 * Messages as objects, for everything off the hot path: the only importer of dns-packet. It trusts its
 * input more than the wire deserves (odd labels lose bytes, 64-octet labels pass, nothing is compressed
 * when encoding), so relayed answers never go through it.
 */
import * as packet from 'dns-packet';
import type { DecodedPacket, Packet } from 'dns-packet';

export type { DecodedPacket, Packet } from 'dns-packet';

/** Decodes a message; null where the package cannot make sense of it. */
export function decodeMessage(bytes: Uint8Array): DecodedPacket | null {
  try {
    return packet.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch {
    return null;
  }
}

/** Encodes a message, names uncompressed; throws what the package throws where it cannot. */
export function encodeMessage(message: Packet): Uint8Array {
  return packet.encode(message);
}
