// The lower limit: a batch echo server in C. Nearly all of its cost is in the kernel; no DNS server can cost less.
import type { NativeTools } from '../native-tools.ts';
import type { BenchServer } from './peer-server.ts';

/** The echo server, if it could be built. */
export function echoServer(native: NativeTools | undefined): BenchServer {
  return {
    name: 'echo',
    filters: false,
    logsQueries: false,
    installed: () => (native === undefined ? undefined : { binary: native.echo, version: '-' }),
    prepare: (environment, binary) => ({ command: binary, args: ['echo', String(environment.port)] }),
  };
}
