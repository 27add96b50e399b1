/**
 * The system calls of the UDP listeners. If they are unavailable, `loadNativeCalls` returns the reason, and the caller
 * uses node:dgram.
 */
import { layoutMismatch, loadLibc } from '../../shared/libc.ts';
import type { Libc, Signatures } from '../../shared/libc.ts';

/** Functions of libc; pointers are addresses as BigInt, created once. */
export interface NativeCalls extends Libc {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: bigint, length: number): number;
  connect(fd: number, address: bigint, length: number): number;
  listen(fd: number, backlog: number): number;
  getsockname(fd: number, address: bigint, length: bigint): number;
  getsockopt(fd: number, level: number, option: number, value: bigint, length: bigint): number;
  fcntl(fd: number, command: number, argument: number): number;
  setsockopt(fd: number, level: number, option: number, value: bigint, length: number): number;
  recvmmsg(fd: number, messages: bigint, count: number, flags: number, timeout: null): number;
  sendmmsg(fd: number, messages: bigint, count: number, flags: number): number;
  epoll_create1(flags: number): number;
  epoll_ctl(epoll: number, operation: number, fd: number, event: bigint): number;
  epoll_wait(epoll: number, events: bigint, count: number, timeoutMs: number): number;
  poll(descriptors: bigint, count: number, timeoutMs: number): number;
  usleep(microseconds: number): number;
  eventfd(initial: number, flags: number): number;
  read(fd: number, buffer: bigint, size: number): number;
  close(fd: number): number;
}

/** Linux error numbers that need distinct handling. */
export const Errno = {
  EINTR: 4,
  EAGAIN: 11,
  EACCES: 13,
  EADDRINUSE: 98,
  EADDRNOTAVAIL: 99,
  EAFNOSUPPORT: 97,
} as const;

const SIGNATURES: Signatures<NativeCalls> = {
  socket: ['int', ['int', 'int', 'int']],
  bind: ['int', ['int', 'void *', 'uint']],
  connect: ['int', ['int', 'void *', 'uint']],
  listen: ['int', ['int', 'int']],
  getsockname: ['int', ['int', 'void *', 'void *']],
  getsockopt: ['int', ['int', 'int', 'int', 'void *', 'void *']],
  fcntl: ['int', ['int', 'int', 'long']],
  setsockopt: ['int', ['int', 'int', 'int', 'void *', 'uint']],
  recvmmsg: ['int', ['int', 'void *', 'uint', 'int', 'void *']],
  sendmmsg: ['int', ['int', 'void *', 'uint', 'int']],
  epoll_create1: ['int', ['int']],
  epoll_ctl: ['int', ['int', 'int', 'int', 'void *']],
  epoll_wait: ['int', ['int', 'void *', 'int', 'int']],
  poll: ['int', ['void *', 'ulong', 'int']],
  usleep: ['int', ['uint']],
  eventfd: ['int', ['uint', 'int']],
  read: ['long', ['int', 'void *', 'ulong']],
  close: ['int', ['int']],
};

/** Loads the calls, or returns why they are unavailable. */
export function loadNativeCalls(): { calls: NativeCalls } | { reason: string } {
  const reason = layoutMismatch();
  return reason === undefined ? loadLibc<NativeCalls>(SIGNATURES) : { reason };
}
