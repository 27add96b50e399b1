/**
 * The system calls that Node has no binding for, through koffi: the only file that knows it. Where koffi
 * does not load (no prebuilt binary, an unknown machine), `loadNativeCalls` says why and node:dgram serves.
 * Structures are laid out by hand for 64-bit little-endian Linux.
 */
import { reasonOf } from '../../shared/thrown.ts';
import { createRequire } from 'node:module';
import { endianness } from 'node:os';

/** A function of libc; pointers are addresses as BigInt, made once. */
export interface NativeCalls {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: bigint, length: number): number;
  listen(fd: number, backlog: number): number;
  getsockname(fd: number, address: bigint, length: bigint): number;
  getsockopt(fd: number, level: number, option: number, value: bigint, length: bigint): number;
  fcntl(fd: number, command: number, argument: number): number;
  setsockopt(fd: number, level: number, option: number, value: bigint, length: number): number;
  recvmmsg(fd: number, messages: bigint, count: number, flags: number, timeout: null): number;
  sendmmsg(fd: number, messages: bigint, count: number, flags: number): number;
  poll(descriptors: bigint, count: number, timeoutMs: number): number;
  usleep(microseconds: number): number;
  eventfd(initial: number, flags: number): number;
  read(fd: number, buffer: bigint, size: number): number;
  close(fd: number): number;
  /** Error number of the last call of this thread. */
  errno(): number;
  /** Address of a buffer's bytes; valid while the buffer lives (backing stores do not move). */
  address(buffer: ArrayBufferView): bigint;
}

/** Error numbers of Linux that are told apart. */
export const Errno = {
  EINTR: 4,
  EAGAIN: 11,
  EACCES: 13,
  EADDRINUSE: 98,
  EADDRNOTAVAIL: 99,
  EAFNOSUPPORT: 97,
} as const;

/** What koffi offers and Weir uses. */
interface Koffi {
  load(path: null): { func(name: string, result: string, parameters: readonly string[]): unknown };
  errno(): number;
  address(buffer: ArrayBufferView): bigint;
}

const SIGNATURES: Readonly<
  Record<Exclude<keyof NativeCalls, 'errno' | 'address'>, readonly [string, readonly string[]]>
> = {
  socket: ['int', ['int', 'int', 'int']],
  bind: ['int', ['int', 'void *', 'uint']],
  listen: ['int', ['int', 'int']],
  getsockname: ['int', ['int', 'void *', 'void *']],
  getsockopt: ['int', ['int', 'int', 'int', 'void *', 'void *']],
  fcntl: ['int', ['int', 'int', 'long']],
  setsockopt: ['int', ['int', 'int', 'int', 'void *', 'uint']],
  recvmmsg: ['int', ['int', 'void *', 'uint', 'int', 'void *']],
  sendmmsg: ['int', ['int', 'void *', 'uint', 'int']],
  poll: ['int', ['void *', 'ulong', 'int']],
  usleep: ['int', ['uint']],
  eventfd: ['int', ['uint', 'int']],
  read: ['long', ['int', 'void *', 'ulong']],
  close: ['int', ['int']],
};

/** Loads the calls, or tells why they are unavailable. */
export function loadNativeCalls(): { calls: NativeCalls } | { reason: string } {
  if (process.platform !== 'linux') return { reason: `platform ${process.platform} has no recvmmsg` };
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    return { reason: `structures are not laid out for ${process.arch}` };
  if (endianness() !== 'LE') return { reason: 'structures are not laid out for big-endian machines' };
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    const libc = koffi.load(null);
    const functions = Object.fromEntries(
      Object.entries(SIGNATURES).map(([name, [result, parameters]]) => [
        name,
        libc.func(name, result, parameters),
      ]),
    ) as unknown as Omit<NativeCalls, 'errno' | 'address'>;
    return {
      calls: { ...functions, errno: () => koffi.errno(), address: (buffer) => koffi.address(buffer) },
    };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}
