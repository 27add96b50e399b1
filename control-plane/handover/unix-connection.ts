/** A connection to a unix socket by system calls, which wait: for who takes descriptors before anything else can start. */
import type { DescriptorCalls } from './descriptor-calls.ts';

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_RCVTIMEO = 20;
/** struct sockaddr_un: the family, then the path and a NUL. */
const PATH_AT = 2;
const MAX_PATH_SIZE = 107;

/** The descriptor of a connection on which each wait ends after `timeoutMs`. Throws where nothing listens. */
export function connectUnix(calls: DescriptorCalls, path: string, timeoutMs: number): number {
  const bytes = Buffer.from(path);
  if (bytes.length > MAX_PATH_SIZE) throw new Error(`connect to ${path}: the path is too long for a socket`);
  const address = new Uint8Array(new ArrayBuffer(PATH_AT + MAX_PATH_SIZE + 1));
  new DataView(address.buffer).setUint16(0, AF_UNIX, true);
  address.set(bytes, PATH_AT);
  const fd = calls.socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeout = BigInt64Array.of(BigInt(Math.floor(timeoutMs / 1000)), BigInt((timeoutMs % 1000) * 1000));
  calls.setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, calls.address(timeout), timeout.byteLength);
  if (calls.connect(fd, calls.address(address), address.length) === 0) return fd;
  const errno = calls.errno();
  calls.close(fd);
  throw new Error(`connect to ${path}: errno ${String(errno)}`);
}
