/** The address and port of a UDP socket or a listening TCP socket, by its descriptor. */
import { addressToText } from '../ip.ts';
import { AF_INET6, SOCKADDR_SIZE, SockAddr, unpackAddress } from './socket-address.ts';

/** The system calls for inspecting a socket; pointers are addresses as BigInt. */
export interface SocketQuestions {
  getsockname(fd: number, address: bigint, length: bigint): number;
  getsockopt(fd: number, level: number, option: number, value: bigint, length: bigint): number;
  address(buffer: ArrayBufferView): bigint;
}

/** A socket with its address and port. */
export interface BoundSocket {
  readonly transport: 'udp' | 'tcp';
  readonly address: string;
  readonly port: number;
  /** Whether this is an IPv6 socket that also accepts IPv4. */
  readonly isDualStack: boolean;
}

const SOL_SOCKET = 1;
const SO_TYPE = 3;
const SO_ACCEPTCONN = 30;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;

/** Inspects a descriptor; null if it is not a UDP socket or a listening TCP socket. */
export function boundSocket(calls: SocketQuestions, fd: number): BoundSocket | null {
  const option = (level: number, name: number): number => {
    const value = new Int32Array(1);
    const length = Uint32Array.of(value.byteLength);
    return calls.getsockopt(fd, level, name, calls.address(value), calls.address(length)) < 0
      ? -1
      : value[0]!;
  };
  const type = option(SOL_SOCKET, SO_TYPE);
  const isListener = type === SOCK_STREAM && option(SOL_SOCKET, SO_ACCEPTCONN) === 1;
  if (type !== SOCK_DGRAM && !isListener) return null;
  const name = new Uint8Array(new ArrayBuffer(SOCKADDR_SIZE));
  if (calls.getsockname(fd, calls.address(name), calls.address(Uint32Array.of(SOCKADDR_SIZE))) < 0)
    return null;
  const bytes = new Uint8Array(16);
  const words = new Int32Array(name.buffer);
  unpackAddress(words, 0, new Int32Array(bytes.buffer), 0);
  return {
    transport: isListener ? 'tcp' : 'udp',
    address: addressToText(bytes),
    port: (name[SockAddr.PORT]! << 8) | name[SockAddr.PORT + 1]!,
    isDualStack: (words[0]! & 0xffff) === AF_INET6 && option(IPPROTO_IPV6, IPV6_V6ONLY) === 0,
  };
}
