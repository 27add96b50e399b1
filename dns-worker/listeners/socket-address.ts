/** Socket addresses as the kernel lays them out: struct sockaddr_in and sockaddr_in6 (netinet/in.h). */
import { isMappedIpv4 } from '../../shared/net/ip.ts';

export const AF_INET = 2;
export const AF_INET6 = 10;
/** Bytes of struct sockaddr_in6, the larger one. */
export const SOCKADDR_SIZE = 28;
const SOCKADDR_IN_SIZE = 16;
/** Offsets in the structures; the family is a u16 in the machine's order at 0. */
export const SockAddr = { PORT: 2, IPV4: 4, IPV6: 8 } as const;

/** A socket address ready for bind(2). */
export interface PackedSocketAddress {
  readonly family: typeof AF_INET | typeof AF_INET6;
  /** SOCKADDR_SIZE bytes, of which `length` count. */
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** Lays out an address of 16 bytes and a port. */
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

/** Writes the address of a socket address as 16 bytes. */
export function unpackAddress(from: Uint8Array, fromAt: number, to: Uint8Array, toAt: number): void {
  if (from[fromAt] === AF_INET6) {
    for (let i = 0; i < 16; i++) to[toAt + i] = from[fromAt + SockAddr.IPV6 + i]!;
    return;
  }
  for (let i = 0; i < 10; i++) to[toAt + i] = 0;
  to[toAt + 10] = 0xff;
  to[toAt + 11] = 0xff;
  for (let i = 0; i < 4; i++) to[toAt + 12 + i] = from[fromAt + SockAddr.IPV4 + i]!;
}
