/**
 * The binary header in which a load balancer names the client of a connection: PROXY protocol, version 2
 * (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, section 2.2). Every byte may come from an attacker. A
 * header of version 1 is treated like a missing or malformed header.
 */
import { readU16 } from '../dns/wire.ts';
import { ADDRESS_SIZE } from './ip.ts';

const SIGNATURE = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a);

/** Offsets from the header's start. */
const Head = { VERSION: 12, FAMILY: 13, LENGTH: 14, SIZE: 16 } as const;
const VERSION_2 = 2;
const Command = { LOCAL: 0, PROXY: 1 } as const;
const Family = { UNSPEC: 0, INET: 1, INET6: 2, UNIX: 3 } as const;
/** Number of transports: unspecified, stream, datagram. */
const TRANSPORTS = 3;
/** Size of the addresses and ports of both ends, by family. */
const ADDRESSES_SIZE = [0, 12, 36, 216] as const;
/** Offsets from the addresses' start. */
const Inet = { SOURCE: 0, SOURCE_SIZE: 4, SOURCE_PORT: 8 } as const;
const Inet6 = { SOURCE: 0, SOURCE_PORT: 32 } as const;
/** A value after the addresses: type, length, then that many bytes. */
const Tlv = { TYPE: 0, LENGTH: 1, VALUE: 3, CRC32C: 0x03, CRC32C_SIZE: 4 } as const;

/** Maximum size of a header; headers of HAProxy are smaller than 1000 bytes with all options. */
export const MAX_PROXY_HEADER_SIZE = 4096;

/** The header of a load balancer's own connection, such as a health check: LOCAL, without addresses. */
export const LOCAL_PROXY_HEADER: Uint8Array = Uint8Array.of(
  ...SIGNATURE,
  ...[(VERSION_2 << 4) | Command.LOCAL, 0, 0, 0],
);

/** Result of reading a header. */
export const ProxyOutcome = {
  /** A complete header, whose content is in the fields of the reader. */
  OK: 0,
  /** An incomplete header. */
  MORE: 1,
  /** No header, or a malformed header. */
  BAD: 2,
} as const;
export type ProxyOutcomeCode = (typeof ProxyOutcome)[keyof typeof ProxyOutcome];

/** Reads headers; each header overwrites the fields. */
export class ProxyHeader {
  /** Size of the header; the client's bytes follow. */
  length = 0;
  /**
   * Whether the header names the client; if not, the peer itself is the client (a LOCAL header, or a client that does
   * not use IP).
   */
  hasSource = false;
  /** Address of the client, 16 bytes; IPv4 as ::ffff:a.b.c.d. */
  readonly source = new Uint8Array(ADDRESS_SIZE);
  sourcePort = 0;

  /** Reads the bytes from `at` up to `end`. */
  read(bytes: Uint8Array, at: number, end: number): ProxyOutcomeCode {
    this.hasSource = false;
    const size = end - at;
    if (!startsAsSignature(bytes, at, size)) return ProxyOutcome.BAD;
    if (size <= Head.VERSION) return ProxyOutcome.MORE;
    const command = bytes[at + Head.VERSION]! & 15;
    if (bytes[at + Head.VERSION]! >> 4 !== VERSION_2 || command > Command.PROXY) return ProxyOutcome.BAD;
    if (size < Head.SIZE) return ProxyOutcome.MORE;
    this.length = Head.SIZE + readU16(bytes, at + Head.LENGTH);
    if (this.length > MAX_PROXY_HEADER_SIZE) return ProxyOutcome.BAD;
    if (size < this.length) return ProxyOutcome.MORE;
    return this.readComplete(bytes, at, command) ? ProxyOutcome.OK : ProxyOutcome.BAD;
  }

  private readComplete(bytes: Uint8Array, at: number, command: number): boolean {
    const family = bytes[at + Head.FAMILY]! >> 4;
    // For LOCAL, the receiver must ignore everything except the length.
    if (command === Command.LOCAL) return true;
    if (family > Family.UNIX || (bytes[at + Head.FAMILY]! & 15) >= TRANSPORTS) return false;
    const tlvsAt = at + Head.SIZE + ADDRESSES_SIZE[family as 0 | 1 | 2 | 3];
    const end = at + this.length;
    if (tlvsAt > end || !areTlvs(bytes, at, tlvsAt, end)) return false;
    if (family === Family.INET) this.takeInet(bytes, at + Head.SIZE);
    else if (family === Family.INET6) this.takeInet6(bytes, at + Head.SIZE);
    return true;
  }

  private takeInet(bytes: Uint8Array, at: number): void {
    const { source } = this;
    const first = ADDRESS_SIZE - Inet.SOURCE_SIZE;
    source.fill(0, 0, 10).fill(0xff, 10, first);
    for (let i = 0; i < Inet.SOURCE_SIZE; i++) source[first + i] = bytes[at + Inet.SOURCE + i]!;
    this.sourcePort = readU16(bytes, at + Inet.SOURCE_PORT);
    this.hasSource = true;
  }

  private takeInet6(bytes: Uint8Array, at: number): void {
    for (let i = 0; i < ADDRESS_SIZE; i++) this.source[i] = bytes[at + Inet6.SOURCE + i]!;
    this.sourcePort = readU16(bytes, at + Inet6.SOURCE_PORT);
    this.hasSource = true;
  }
}

/** Whether the bytes begin with the signature that headers of all versions share; null if there are too few bytes. */
export function couldBeProxyHeader(bytes: Uint8Array): boolean | null {
  if (!startsAsSignature(bytes, 0, bytes.length)) return false;
  return bytes.length < SIGNATURE.length ? null : true;
}

function startsAsSignature(bytes: Uint8Array, at: number, size: number): boolean {
  for (let i = 0; i < size && i < SIGNATURE.length; i++) if (bytes[at + i] !== SIGNATURE[i]) return false;
  return true;
}

/** Whether the remaining bytes of the header are complete values, and the checksum, if any, is correct. */
function areTlvs(bytes: Uint8Array, headerAt: number, tlvsAt: number, end: number): boolean {
  let at = tlvsAt;
  while (at < end) {
    if (at + Tlv.VALUE > end) return false;
    const next = at + Tlv.VALUE + readU16(bytes, at + Tlv.LENGTH);
    if (next > end) return false;
    if (bytes[at + Tlv.TYPE] === Tlv.CRC32C && !isChecksum(bytes, headerAt, at + Tlv.VALUE, next, end))
      return false;
    at = next;
  }
  return true;
}

/** The checksum covers the whole header, with zeros in place of the checksum (section 2.2.5). */
function isChecksum(bytes: Uint8Array, headerAt: number, at: number, next: number, end: number): boolean {
  if (next - at !== Tlv.CRC32C_SIZE) return false;
  const stated = ((readU16(bytes, at) << 16) | readU16(bytes, at + 2)) >>> 0;
  const copy = bytes.slice(headerAt, end);
  copy.fill(0, at - headerAt, next - headerAt);
  return crc32c(copy) === stated;
}

const POLYNOMIAL = 0x82f63b78;
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
  return rest;
});

/** The CRC-32C checksum of these bytes, as a u32. */
export function crc32c(bytes: Uint8Array): number {
  let rest = -1;
  for (const byte of bytes) rest = TABLE[(rest ^ byte) & 255]! ^ (rest >>> 8);
  return ~rest >>> 0;
}
