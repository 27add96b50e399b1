/** Connects to Unix sockets by system calls, to receive descriptors and to send datagrams. Node.js supports neither. */
import type { DescriptorCalls } from './descriptor-calls.ts';

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_RCVTIMEO = 20;
/** struct sockaddr_un: the family, then the path and a NUL, or a NUL and an abstract name. */
const PATH_AT = 2;
const MAX_PATH_SIZE = 107;

/**
 * Connects; returns a descriptor, on which each blocking call ends after `timeoutMs`. Throws if no process is
 * listening.
 */
export function connectUnix(calls: DescriptorCalls, path: string, timeoutMs: number): number {
  const fd = connect(calls, path, SOCK_STREAM);
  const timeout = BigInt64Array.of(BigInt(Math.floor(timeoutMs / 1000)), BigInt((timeoutMs % 1000) * 1000));
  calls.setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, calls.address(timeout), timeout.byteLength);
  return fd;
}

/**
 * The descriptor of a socket that sends datagrams to `path`, or to an abstract name if `path` starts with `@`. Throws
 * if no process receives there.
 */
export function connectDatagrams(calls: DescriptorCalls, path: string): number {
  return connect(calls, path, SOCK_DGRAM);
}

function connect(calls: DescriptorCalls, path: string, type: number): number {
  const { bytes, length } = unixAddress(path);
  const fd = calls.socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (calls.connect(fd, calls.address(bytes), length) === 0) return fd;
  const errno = calls.errno();
  calls.close(fd);
  throw new Error(`connect to ${path}: errno ${String(errno)}`);
}

/** struct sockaddr_un, of which `length` bytes are used. */
export function unixAddress(path: string): { readonly bytes: Uint8Array; readonly length: number } {
  const name = Buffer.from(path);
  if (name.length > MAX_PATH_SIZE)
    throw new Error(`could not connect to ${path}: the path is too long for a socket`);
  const bytes = new Uint8Array(new ArrayBuffer(PATH_AT + MAX_PATH_SIZE + 1));
  new DataView(bytes.buffer).setUint16(0, AF_UNIX, true);
  bytes.set(name, PATH_AT);
  if (!path.startsWith('@')) return { bytes, length: PATH_AT + name.length + 1 };
  bytes[PATH_AT] = 0;
  return { bytes, length: PATH_AT + name.length };
}
