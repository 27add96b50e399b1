/**
 * Opens sockets by system calls, and records their descriptors in the memory of the worker. The sockets belong to the
 * process: if a thread dies, its successor takes over the sockets and their queues, and during an upgrade, the new
 * process does.
 */
import { type BoundSocket, boundSocket } from '../../shared/net/kernel/bound-socket.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { AF_INET6, packSocketAddress } from '../../shared/net/kernel/socket-address.ts';
import { ListenError } from './listen-error.ts';
import { Errno, type NativeCalls } from './native-calls.ts';

const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEPORT = 15;

/** Sets an option of the socket; returns a negative number if the kernel refuses it. */
export type SetOption = (level: number, option: number, value: readonly number[]) => number;

/** Address and port for a socket. */
export interface Place {
  readonly address: string;
  /** 0 = the system chooses a port. */
  readonly port: number;
}

/** Opens and binds a socket with SO_REUSEPORT, after `prepare` has set its options. Throws a ListenError. */
export function openSocket(
  calls: NativeCalls,
  { address: text, port }: Place,
  type: number,
  prepare: (set: SetOption, isIpv6: boolean) => void,
): number {
  const address = addressFromText(text);
  if (address === null) throw new ListenError(text, port, 'EINVAL');
  const packed = packSocketAddress(address, port);
  const fd = calls.socket(packed.family, type | SOCK_CLOEXEC, 0);
  if (fd < 0) throw new ListenError(text, port, errnoName(calls.errno()));
  const set: SetOption = (level, option, value) => {
    const bytes = new Uint8Array(Int32Array.from(value).buffer);
    return calls.setsockopt(fd, level, option, calls.address(bytes), bytes.length);
  };
  set(SOL_SOCKET, SO_REUSEPORT, [1]);
  prepare(set, packed.family === AF_INET6);
  if (calls.bind(fd, calls.address(packed.bytes), packed.length) < 0) {
    const code = errnoName(calls.errno());
    calls.close(fd);
    throw new ListenError(text, port, code);
  }
  return fd;
}

/**
 * Words of `WorkerControl` that record descriptors: the word with their number, and the word of the first descriptor.
 */
export interface NotedAt {
  readonly countWord: number;
  readonly firstWord: number;
}

/** The recorded descriptors in order, each with its address and port. */
export function notedSockets(
  calls: NativeCalls,
  control: Int32Array,
  { countWord, firstWord }: NotedAt,
): { readonly fd: number; readonly bound: BoundSocket }[] {
  const count = Atomics.load(control, countWord);
  return [...control.subarray(firstWord, firstWord + count)].flatMap((fd) => {
    const bound = boundSocket(calls, fd);
    return bound === null ? [] : [{ fd, bound }];
  });
}

/** Whether a socket has the wanted address and port. */
export function isAt({ address, port }: BoundSocket, wanted: Place): boolean {
  return address === wanted.address && (port === wanted.port || wanted.port === 0);
}

/** Records a descriptor after the others. */
export function noteSocket(control: Int32Array, { countWord, firstWord }: NotedAt, fd: number): void {
  const count = Atomics.load(control, countWord);
  Atomics.store(control, firstWord + count, fd);
  Atomics.store(control, countWord, count + 1);
}

/** Closes the recorded descriptors permanently. */
export function closeNoted(calls: NativeCalls, control: Int32Array, { countWord, firstWord }: NotedAt): void {
  const count = Atomics.exchange(control, countWord, 0);
  for (let i = 0; i < count; i++) calls.close(control[firstWord + i]!);
}

/** The system's name of an error, e.g. EADDRINUSE. */
export function errnoName(errno: number): string {
  return Object.entries(Errno).find(([, code]) => code === errno)?.[0] ?? `errno ${String(errno)}`;
}
