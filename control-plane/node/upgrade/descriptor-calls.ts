/**
 * System calls that pass file descriptors to another process and inspect them. If the calls are unavailable, no
 * descriptors are passed.
 */
import { layoutMismatch, loadLibc } from '../../../shared/libc.ts';
import type { Libc, Signatures } from '../../../shared/libc.ts';
import type { SocketQuestions } from '../../../shared/net/kernel/bound-socket.ts';

/** Functions of libc; pointers are addresses as BigInt. */
export interface DescriptorCalls extends SocketQuestions, Libc {
  socket(domain: number, type: number, protocol: number): number;
  connect(fd: number, address: bigint, length: number): number;
  setsockopt(fd: number, level: number, option: number, value: bigint, length: number): number;
  sendmsg(fd: number, message: bigint, flags: number): number;
  recvmsg(fd: number, message: bigint, flags: number): number;
  fcntl(fd: number, command: number, argument: number): number;
  memfd_create(name: string, flags: number): number;
  close(fd: number): number;
}

const SIGNATURES: Signatures<DescriptorCalls> = {
  socket: ['int', ['int', 'int', 'int']],
  connect: ['int', ['int', 'void *', 'uint']],
  setsockopt: ['int', ['int', 'int', 'int', 'void *', 'uint']],
  getsockname: ['int', ['int', 'void *', 'void *']],
  getsockopt: ['int', ['int', 'int', 'int', 'void *', 'void *']],
  sendmsg: ['long', ['int', 'void *', 'int']],
  recvmsg: ['long', ['int', 'void *', 'int']],
  fcntl: ['int', ['int', 'int', 'long']],
  memfd_create: ['int', ['str', 'uint']],
  close: ['int', ['int']],
};

/** Loads the calls; returns the reason if they are unavailable. */
export function loadDescriptorCalls(): { calls: DescriptorCalls } | { reason: string } {
  const reason = layoutMismatch();
  return reason === undefined ? loadLibc<DescriptorCalls>(SIGNATURES) : { reason };
}
