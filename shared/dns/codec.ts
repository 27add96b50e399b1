/**
 * Messages as objects, for everything off the hot path: the only importer of dns-packet. dns-packet is too lenient for
 * hostile input (odd labels lose bytes, 64-octet labels pass) and does not compress, so relayed answers never pass
 * through it.
 */
import * as packet from 'dns-packet';
import type { DecodedPacket, Packet } from 'dns-packet';

export type { DecodedPacket, Packet } from 'dns-packet';

/** Decodes a message; null if the package cannot. */
export function decodeMessage(bytes: Uint8Array): DecodedPacket | null {
  try {
    return packet.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch {
    return null;
  }
}

/** Encodes a message, names uncompressed; throws what the package throws if it cannot. */
export function encodeMessage(message: Packet): Uint8Array {
  return packet.encode(message);
}
