/**
 * A DNS message as bytes: the positions of its parts (RFC 1035 section 4.1) and the few reads and writes that both
 * planes make in place. Nothing here allocates; names are in `name.ts`, options in `edns-option.ts`.
 */

/** Offsets in the header, bytes. */
export const Header = {
  ID: 0,
  FLAGS_HIGH: 2,
  FLAGS_LOW: 3,
  QDCOUNT: 4,
  ANCOUNT: 6,
  NSCOUNT: 8,
  ARCOUNT: 10,
  SIZE: 12,
} as const;

/** Bits of the byte at `Header.FLAGS_HIGH`. */
export const FlagsHigh = { QR: 0x80, OPCODE: 0x78, OPCODE_SHIFT: 3, AA: 0x04, TC: 0x02, RD: 0x01 } as const;

/** Bits of the byte at `Header.FLAGS_LOW`. */
export const FlagsLow = { RA: 0x80, Z: 0x40, AD: 0x20, CD: 0x10, RCODE: 0x0f } as const;

/** Offsets in a resource record, bytes from the end of its owner name (RFC 1035 section 3.2.1). */
export const Record = { TYPE: 0, CLASS: 2, TTL: 4, RDLENGTH: 8, RDATA: 10 } as const;

/** Bytes of a question after its name. */
export const QUESTION_TAIL_SIZE = 4;
/** Size of a DNS cookie: the client cookie, then the server cookie (RFC 9018 section 4). */
export const COOKIE_SIZE = 24;
/** Maximum size of a message over TCP (two-octet length, RFC 1035 section 4.2.2). */
export const MAX_MESSAGE_SIZE = 65535;
/** Maximum size of a message over UDP for a client without EDNS (RFC 1035 section 4.2.1). */
export const CLASSIC_UDP_SIZE = 512;
/**
 * Maximum size of a message that Weir sends over UDP or accepts from upstreams: avoids fragments (DNS flag day 2020).
 */
export const UDP_PAYLOAD_SIZE = 1232;

/** Reads a big-endian u16. */
export function readU16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

/** Reads a big-endian u32. */
export function readU32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Writes a big-endian u16. */
export function writeU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

/** Writes a big-endian u32. */
export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Writes a question after the header; returns the length of the message. */
export function writeQuestion(bytes: Uint8Array, qname: Uint8Array, qtype: number, qclass: number): number {
  bytes.set(qname, Header.SIZE);
  const tail = Header.SIZE + qname.length;
  writeU16(bytes, tail, qtype);
  writeU16(bytes, tail + 2, qclass);
  return tail + QUESTION_TAIL_SIZE;
}

/**
 * Skips a name and returns the offset after it, or -1 if it extends beyond `end`, is longer than 255 bytes or contains
 * a reserved label type. Pointers are skipped, not followed.
 */
export function skipName(bytes: Uint8Array, at: number, end: number): number {
  let offset = at;
  while (offset < end && offset - at < 255) {
    const length = bytes[offset]!;
    if (length === 0) return offset + 1;
    if ((length & 0xc0) === 0xc0) return offset + 2 <= end ? offset + 2 : -1;
    if (length > 63) return -1;
    offset += length + 1;
  }
  return -1;
}

/** Skips a resource record; -1 if it does not end before `end`. */
export function skipRecord(bytes: Uint8Array, at: number, end: number): number {
  const tail = skipName(bytes, at, end);
  if (tail < 0 || tail + Record.RDATA > end) return -1;
  const next = tail + Record.RDATA + readU16(bytes, tail + Record.RDLENGTH);
  return next <= end ? next : -1;
}
