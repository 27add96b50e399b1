/** Socket addresses in the layout of the kernel: struct sockaddr_in and sockaddr_in6 (netinet/in.h). */
import { isMappedIpv4 } from '../ip.ts';

export const AF_INET = 2;
export const AF_INET6 = 10;
/** Size of struct sockaddr_in6, the larger structure. */
export const SOCKADDR_SIZE = 28;
const SOCKADDR_IN_SIZE = 16;
/** Offsets in the structures; the family is a u16 in host byte order at 0. */
export const SockAddr = { PORT: 2, IPV4: 4, IPV6: 8 } as const;

/** A socket address ready for bind(2). */
export interface PackedSocketAddress {
  readonly family: typeof AF_INET | typeof AF_INET6;
  /** SOCKADDR_SIZE bytes, of which the first `length` are used. */
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** Converts a 16-byte address and a port. */
export function packSocketAddress(address: Uint8Array, port: number): PackedSocketAddress {
  const bytes = new Uint8Array(SOCKADDR_SIZE);
  const mapped = isMappedIpv4(address);
  bytes[0] = mapped ? AF_INET : AF_INET6;
  bytes[SockAddr.PORT] = port >>> 8;
  bytes[SockAddr.PORT + 1] = port & 0xff;
  if (mapped) bytes.set(address.subarray(12), SockAddr.IPV4);
  else bytes.set(address, SockAddr.IPV6);
  return { family: mapped ? AF_INET : AF_INET6, bytes, length: mapped ? SOCKADDR_IN_SIZE : SOCKADDR_SIZE };
}

/** The third word of ::ffff:0:0/96 in the memory of a little-endian machine. */
const MAPPED_WORD = 0xffff_0000 | 0;

/**
 * Writes the IP address in a socket address as 16 bytes. Offsets count 32-bit words; the low half of the first word is
 * the family (only on little-endian machines, which `layoutMismatch` ensures).
 */
export function unpackAddress(from: Int32Array, fromAt: number, to: Int32Array, toAt: number): void {
  if ((from[fromAt]! & 0xffff) === AF_INET6) {
    const address = fromAt + (SockAddr.IPV6 >>> 2);
    to[toAt] = from[address]!;
    to[toAt + 1] = from[address + 1]!;
    to[toAt + 2] = from[address + 2]!;
    to[toAt + 3] = from[address + 3]!;
    return;
  }
  to[toAt] = 0;
  to[toAt + 1] = 0;
  to[toAt + 2] = MAPPED_WORD;
  to[toAt + 3] = from[fromAt + (SockAddr.IPV4 >>> 2)]!;
}
