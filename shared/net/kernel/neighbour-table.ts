/**
 * Reads the kernel's neighbour tables, ARP and IPv6, without privileges. It uses system calls, because `ip neigh` would
 * need another package and a process per read. If system calls are unavailable, only /proc/net/arp is read, and IPv6
 * clients are identified by their addresses.
 */
import { loadLibc } from '../../libc.ts';
import type { Signatures } from '../../libc.ts';
import type { Logger } from '../../log.ts';
import { type Neighbour, neighbourRequest, readArpText, readNeighbours } from './neighbour-messages.ts';

const AF_NETLINK = 16;
/** SOCK_RAW, SOCK_NONBLOCK, SOCK_CLOEXEC. */
const SOCKET_TYPE = 3 | 0x800 | 0x8_0000;
/** The kernel writes at most 32 KiB per datagram. */
const BUFFER_BYTES = 64 * 1024;
/** Maximum number of datagrams to read, enough for a table of a hundred thousand entries. */
const MAX_DATAGRAMS = 1000;

interface SocketCalls {
  socket(domain: number, type: number, protocol: number): number;
  send(fd: number, buffer: Uint8Array, length: number, flags: number): number;
  recv(fd: number, buffer: Uint8Array, length: number, flags: number): number;
  close(fd: number): number;
}

const TRANSFER = ['int', 'void *', 'size_t', 'int'];
const SIGNATURES: Signatures<SocketCalls> = {
  socket: ['int', ['int', 'int', 'int']],
  send: ['long', TRANSFER],
  recv: ['long', TRANSFER],
  close: ['int', ['int']],
};

/** Reads the current tables; never throws. */
export type ReadNeighbours = () => readonly Neighbour[];

/** Reads a file, or throws. */
type ReadText = (path: string) => string;

/** Chooses the way to read the tables on this machine; logs once if only the fallback is available. */
export function openNeighbourTable(logger: Logger, readText: ReadText): ReadNeighbours {
  const { read, reason } = chooseTable(readText);
  if (reason !== undefined) logger.info('reading only IPv4 neighbours, from /proc/net/arp', { reason });
  return read;
}

/**
 * Same as `openNeighbourTable`, for a DNS thread: opens no files, and loads the system calls only when the tables are
 * first needed.
 */
export function neighboursWhenNeeded(): ReadNeighbours {
  let read: ReadNeighbours | undefined;
  return () => (read ??= chooseTable(() => '').read)();
}

/** Chooses the way to read the tables; if it is the fallback, `reason` says why. */
function chooseTable(readText: ReadText): { readonly read: ReadNeighbours; readonly reason?: string } {
  const libc =
    process.platform === 'linux' ? loadLibc<SocketCalls>(SIGNATURES) : { reason: 'netlink is not available' };
  const readArpFile = (): Neighbour[] => readArp(readText);
  if ('reason' in libc) return { read: readArpFile, reason: libc.reason };
  const buffer = new Uint8Array(BUFFER_BYTES);
  return { read: () => askKernel(libc.calls, buffer) ?? readArpFile() };
}

/** Neighbours from rtnetlink; null if the kernel does not answer. */
function askKernel(calls: SocketCalls, buffer: Uint8Array): Neighbour[] | null {
  const fd = calls.socket(AF_NETLINK, SOCKET_TYPE, 0);
  if (fd < 0) return null;
  try {
    const request = neighbourRequest();
    if (calls.send(fd, request, request.length, 0) !== request.length) return null;
    const found: Neighbour[] = [];
    for (let i = 0; i < MAX_DATAGRAMS; i++) {
      const length = calls.recv(fd, buffer, buffer.length, 0);
      if (length <= 0) return null;
      if (readNeighbours(buffer.subarray(0, length), found)) break;
    }
    return found;
  } finally {
    calls.close(fd);
  }
}

function readArp(readText: ReadText): Neighbour[] {
  try {
    return readArpText(readText('/proc/net/arp'));
  } catch {
    return []; // Not Linux, or /proc is not mounted.
  }
}
