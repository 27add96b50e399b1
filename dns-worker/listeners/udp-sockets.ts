/**
 * The UDP sockets of a worker: buffer sizes, and the local address of each datagram (IP_PKTINFO) if a socket is bound
 * to a wildcard address. Sockets recorded in `WorkerControl.UDP_FD_*` are taken over with their queues.
 */
import { errorCode } from '../../shared/errors.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import type { NativeCalls } from './native-calls.ts';
import { isAt, noteSocket, notedSockets, openSocket } from './open-socket.ts';
import type { Place } from './open-socket.ts';

const SOCK_DGRAM = 2;
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
/** These options ignore net.core.wmem_max and rmem_max, and need CAP_NET_ADMIN. */
const SO_SNDBUFFORCE = 32;
const SO_RCVBUFFORCE = 33;
const SO_RCVTIMEO = 20;
const IPPROTO_IP = 0;
const IP_PKTINFO = 8;
const IP_MTU_DISCOVER = 10;
/**
 * With this option, the kernel never sets DF, and ignores the path MTU, because an attacker can forge it. (RFC 9715
 * section 3.1 recommends to avoid fragments: the reply size is limited.)
 */
const IP_PMTUDISC_OMIT = 5;
const IPPROTO_IPV6 = 41;
/** This option takes the same values as the IPv4 option. */
const IPV6_MTU_DISCOVER = 23;
const IPV6_V6ONLY = 26;
const IPV6_RECVPKTINFO = 49;

/**
 * Send buffer requested for each socket; the kernel grants less if net.core.wmem_max or rmem_max is lower. Packets that
 * wait for a neighbour's MAC occupy the buffer, up to 208 KiB per neighbour (unres_qlen_bytes) for three seconds; the
 * kernel doubles the requested size, which is enough for 300 addresses that do not resolve. The kernel reserves no
 * memory for it.
 */
const SEND_BUFFER_BYTES = 32 << 20;
/**
 * Receive buffer for about 20,000 small queries (the kernel doubles the value and charges 768 bytes for each): a tenth
 * of a second at full speed.
 */
const RECEIVE_BUFFER_BYTES = 8 << 20;
/** Maximum sleep in recvmmsg, and therefore the maximum delay until a busy thread reads its messages. */
export const RECEIVE_TIMEOUT_US = 4000;

/** One open socket. */
export interface UdpSocket {
  readonly fd: number;
  /** Whether datagrams come with the local address that they were sent to. */
  readonly hasPacketInfo: boolean;
}

/** Words for the descriptors of a worker's UDP sockets. */
export const UDP_NOTED = {
  countWord: WorkerControl.UDP_FD_COUNT_WORD,
  firstWord: WorkerControl.UDP_FD_FIRST_WORD,
} as const;

/**
 * All recorded sockets in `control` in order, possibly several per address; missing sockets are opened and recorded.
 * Throws a ListenError.
 */
export function openUdpSockets(
  calls: NativeCalls,
  control: Int32Array,
  addresses: readonly string[],
  port: number,
): UdpSocket[] {
  const wanted = mergeWildcards(addresses);
  const isMerged = wanted.length < addresses.length;
  const noted = notedSockets(calls, control, UDP_NOTED);
  const sockets = noted.map(({ fd, bound }) => ({ fd, hasPacketInfo: isWildcard(bound.address) }));
  for (const address of wanted) {
    const isNoted = noted.some(
      ({ bound }) =>
        isAt(bound, { address, port }) || (isMerged && isWildcard(bound.address) && isWildcard(address)),
    );
    if (isNoted) continue;
    const fd = openUdpSocket(calls, { address, port }, isMerged);
    noteSocket(control, UDP_NOTED, fd);
    sockets.push({ fd, hasPacketInfo: isWildcard(address) });
  }
  return sockets;
}

/** One dual-stack socket replaces both wildcard sockets, so that the thread waits on one socket instead of two. */
function mergeWildcards(addresses: readonly string[]): readonly string[] {
  return addresses.includes('::') && addresses.includes('0.0.0.0')
    ? addresses.filter((address) => address !== '0.0.0.0')
    : addresses;
}

function isWildcard(address: string): boolean {
  return address === '::' || address === '0.0.0.0';
}

function openUdpSocket(calls: NativeCalls, place: Place, dualStack: boolean): number {
  const wildcard = isWildcard(place.address);
  try {
    return openSocket(calls, place, SOCK_DGRAM, (set, ipv6) => {
      if (set(SOL_SOCKET, SO_RCVBUFFORCE, [RECEIVE_BUFFER_BYTES]) < 0)
        set(SOL_SOCKET, SO_RCVBUF, [RECEIVE_BUFFER_BYTES]);
      if (set(SOL_SOCKET, SO_SNDBUFFORCE, [SEND_BUFFER_BYTES]) < 0)
        set(SOL_SOCKET, SO_SNDBUF, [SEND_BUFFER_BYTES]);
      set(SOL_SOCKET, SO_RCVTIMEO, [0, 0, RECEIVE_TIMEOUT_US, 0]);
      if (ipv6) set(IPPROTO_IPV6, IPV6_V6ONLY, [dualStack && wildcard ? 0 : 1]);
      if (ipv6) set(IPPROTO_IPV6, IPV6_MTU_DISCOVER, [IP_PMTUDISC_OMIT]);
      if (!ipv6 || dualStack) set(IPPROTO_IP, IP_MTU_DISCOVER, [IP_PMTUDISC_OMIT]);
      if (wildcard) set(ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_RECVPKTINFO : IP_PKTINFO, [1]);
    });
  } catch (error) {
    // The kernel has no IPv6: use the IPv4 wildcard address.
    if (dualStack && place.address === '::' && errorCode(error) === 'EAFNOSUPPORT')
      return openUdpSocket(calls, { ...place, address: '0.0.0.0' }, false);
    throw error;
  }
}
