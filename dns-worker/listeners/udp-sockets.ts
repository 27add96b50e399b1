/**
 * Opens the UDP sockets of a worker by system calls: SO_REUSEPORT, buffer sizes, the local address of each datagram
 * (IP_PKTINFO) where a socket is bound to a wildcard. Descriptors belong to the process: when a thread dies its
 * successor takes them over with their queues (`WorkerControl.UDP_FD_*`).
 */
import { addressFromText } from '../../shared/net/ip.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { ListenError } from './listen-error.ts';
import { Errno, type NativeCalls } from './native-calls.ts';
import { AF_INET6, packSocketAddress } from './socket-address.ts';

const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_REUSEPORT = 15;
/** Ignores net.core.wmem_max and rmem_max; needs CAP_NET_ADMIN. */
const SO_SNDBUFFORCE = 32;
const SO_RCVBUFFORCE = 33;
const SO_RCVTIMEO = 20;
const IPPROTO_IP = 0;
const IP_PKTINFO = 8;
const IP_MTU_DISCOVER = 10;
/** Never set DF, never believe a forged path MTU (RFC 9715 section 3.1 asks for no fragments: size is capped). */
const IP_PMTUDISC_OMIT = 5;
const IPPROTO_IPV6 = 41;
/** As for IPv4, with the same value. */
const IPV6_MTU_DISCOVER = 23;
const IPV6_V6ONLY = 26;
const IPV6_RECVPKTINFO = 49;

/**
 * Requested per socket; the kernel grants less if net.core.wmem_max or rmem_max is lower. Packets that wait for a
 * neighbour's MAC count, up to 208 KiB per neighbour (unres_qlen_bytes) for three seconds: the kernel doubles the
 * value, so this holds the packets of 300 addresses that do not resolve. It is a limit; no memory is reserved.
 */
const SEND_BUFFER_BYTES = 32 << 20;
/**
 * Some 20,000 small questions, as the kernel doubles the value and charges 768 bytes each: a tenth of a second at full
 * speed.
 */
const RECEIVE_BUFFER_BYTES = 8 << 20;
/** Longest sleep in recvmmsg, and so the longest delay until a busy thread reads its port. */
export const RECEIVE_TIMEOUT_US = 4000;

/** One open socket. */
export interface UdpSocket {
  readonly fd: number;
  /** Whether datagrams bring the local address they were sent to. */
  readonly hasPacketInfo: boolean;
}

/** Takes over the descriptors noted in `control`, or opens and notes them. Throws a ListenError. */
export function openUdpSockets(
  calls: NativeCalls,
  control: Int32Array,
  addresses: readonly string[],
  port: number,
): UdpSocket[] {
  const wanted = mergeWildcards(addresses);
  const known = Atomics.load(control, WorkerControl.UDP_FD_COUNT_WORD);
  if (known === wanted.length)
    return wanted.map((address, index) => ({
      fd: control[WorkerControl.UDP_FD_FIRST_WORD + index]!,
      hasPacketInfo: isWildcard(address),
    }));
  const sockets = wanted.map((address) =>
    openUdpSocket(calls, address, port, wanted.length < addresses.length),
  );
  sockets.forEach((socket, index) =>
    Atomics.store(control, WorkerControl.UDP_FD_FIRST_WORD + index, socket.fd),
  );
  Atomics.store(control, WorkerControl.UDP_FD_COUNT_WORD, sockets.length);
  return sockets;
}

/** One dual-stack socket serves both wildcards: one place to wait instead of two. */
function mergeWildcards(addresses: readonly string[]): readonly string[] {
  return addresses.includes('::') && addresses.includes('0.0.0.0')
    ? addresses.filter((address) => address !== '0.0.0.0')
    : addresses;
}

function isWildcard(address: string): boolean {
  return address === '::' || address === '0.0.0.0';
}

function openUdpSocket(calls: NativeCalls, text: string, port: number, dualStack: boolean): UdpSocket {
  const address = addressFromText(text);
  if (address === null) throw new ListenError(text, port, 'EINVAL');
  const packed = packSocketAddress(address, port);
  const fd = calls.socket(packed.family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    // A kernel without IPv6: the IPv4 half of the wildcard pair is still served.
    if (dualStack && text === '::') return openUdpSocket(calls, '0.0.0.0', port, false);
    throw new ListenError(text, port, errnoName(calls.errno()));
  }
  const wildcard = isWildcard(text);
  const ipv6 = packed.family === AF_INET6;
  const set = (level: number, option: number, value: readonly number[]): number => {
    const bytes = new Uint8Array(Int32Array.from(value).buffer);
    return calls.setsockopt(fd, level, option, calls.address(bytes), bytes.length);
  };
  set(SOL_SOCKET, SO_REUSEPORT, [1]);
  if (set(SOL_SOCKET, SO_RCVBUFFORCE, [RECEIVE_BUFFER_BYTES]) < 0)
    set(SOL_SOCKET, SO_RCVBUF, [RECEIVE_BUFFER_BYTES]);
  if (set(SOL_SOCKET, SO_SNDBUFFORCE, [SEND_BUFFER_BYTES]) < 0)
    set(SOL_SOCKET, SO_SNDBUF, [SEND_BUFFER_BYTES]);
  set(SOL_SOCKET, SO_RCVTIMEO, [0, 0, RECEIVE_TIMEOUT_US, 0]);
  if (ipv6) set(IPPROTO_IPV6, IPV6_V6ONLY, [dualStack && wildcard ? 0 : 1]);
  if (ipv6) set(IPPROTO_IPV6, IPV6_MTU_DISCOVER, [IP_PMTUDISC_OMIT]);
  if (!ipv6 || dualStack) set(IPPROTO_IP, IP_MTU_DISCOVER, [IP_PMTUDISC_OMIT]);
  if (wildcard) set(ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_RECVPKTINFO : IP_PKTINFO, [1]);
  if (calls.bind(fd, calls.address(packed.bytes), packed.length) < 0) {
    const code = errnoName(calls.errno());
    calls.close(fd);
    throw new ListenError(text, port, code);
  }
  return { fd, hasPacketInfo: wildcard };
}

function errnoName(errno: number): string {
  return Object.entries(Errno).find(([, code]) => code === errno)?.[0] ?? `errno ${String(errno)}`;
}
