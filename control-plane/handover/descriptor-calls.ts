/**
 * The system calls about descriptors that Node has no binding for, through koffi: passing them to another process, and
 * asking what they are. Where koffi does not load, nothing is passed.
 */
import { createRequire } from 'node:module';
import type { SocketQuestions } from '../../shared/net/kernel/bound-socket.ts';
import { reasonOf } from '../../shared/thrown.ts';

/** Functions of libc; pointers are addresses as BigInt. */
export interface DescriptorCalls extends SocketQuestions {
  socket(domain: number, type: number, protocol: number): number;
  connect(fd: number, address: bigint, length: number): number;
  setsockopt(fd: number, level: number, option: number, value: bigint, length: number): number;
  sendmsg(fd: number, message: bigint, flags: number): number;
  recvmsg(fd: number, message: bigint, flags: number): number;
  fcntl(fd: number, command: number, argument: number): number;
  memfd_create(name: string, flags: number): number;
  close(fd: number): number;
  /** Error number of the last call. */
  errno(): number;
}

/** What koffi offers and this file uses. */
interface Koffi {
  load(path: null): { func(name: string, result: string, parameters: readonly string[]): unknown };
  errno(): number;
  address(buffer: ArrayBufferView): bigint;
}

const SIGNATURES: Readonly<
  Record<Exclude<keyof DescriptorCalls, 'errno' | 'address'>, readonly [string, readonly string[]]>
> = {
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

/** Loads the calls, or tells why they are unavailable. */
export function loadDescriptorCalls(): { calls: DescriptorCalls } | { reason: string } {
  if (process.platform !== 'linux' || (process.arch !== 'x64' && process.arch !== 'arm64'))
    return { reason: `structures are not laid out for ${process.platform} on ${process.arch}` };
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    const libc = koffi.load(null);
    const functions = Object.fromEntries(
      Object.entries(SIGNATURES).map(([name, [result, parameters]]) => [
        name,
        libc.func(name, result, parameters),
      ]),
    ) as unknown as Omit<DescriptorCalls, 'errno' | 'address'>;
    return {
      calls: { ...functions, errno: () => koffi.errno(), address: (buffer) => koffi.address(buffer) },
    };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}
