/**
 * Listening for stream connections on every address with SO_REUSEPORT, so that each worker has separate listeners. The
 * caller gets each connection as it is accepted; `admission.ts` decides whether to keep it.
 */
import { once } from 'node:events';
import type { ListenOptions, Server, Socket } from 'node:net';
import { createServer, isIPv6 } from 'node:net';
import { errorCode } from '../../shared/errors.ts';
import { ListenError } from '../listeners/listen-error.ts';

/** Addresses on which to listen. */
export interface StreamAddresses {
  readonly addresses: readonly string[];
  /** 0 = the system chooses a port for each address. */
  readonly port: number;
  /** Returns descriptors of listening sockets, owned by the caller; if absent, Node.js opens the sockets. */
  readonly descriptorsAt?: (place: BoundAddress) => readonly number[];
}

/** An address with an open listener. */
export interface BoundAddress {
  readonly address: string;
  readonly port: number;
}

/** The listening sockets of one protocol. */
export interface StreamPort {
  readonly addresses: readonly BoundAddress[];
  /**
   * Accepts no more connections; resolves when all accepted connections are closed. `lingers`: see
   * `OpenConnections.close`.
   */
  close(lingers?: boolean): Promise<void>;
}

/**
 * Listens on every address; if one is unavailable, closes all sockets and throws a `ListenError`. If the kernel has no
 * IPv6 and `0.0.0.0` is also listed, `::` is skipped.
 */
export async function listenOnAll(
  { addresses, port, descriptorsAt }: StreamAddresses,
  accept: (socket: Socket) => void,
): Promise<StreamPort> {
  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => closeServer(server)));
  };
  try {
    for (const address of addresses) {
      const places = descriptorsAt?.({ address, port }).map((fd) => ({ fd })) ?? [
        { host: address, port, ipv6Only: isIPv6(address), reusePort: true },
      ];
      const count = servers.length;
      for (const place of places) {
        const server = await listen(place, { address, port }, accept);
        if (server !== null) servers.push(server);
      }
      if (servers.length === count && !addresses.includes('0.0.0.0'))
        throw new ListenError(address, port, 'EAFNOSUPPORT');
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { addresses: servers.map(boundAddress), close };
}

/** Listens on one address; null if the address is the IPv6 wildcard and the kernel has no IPv6. */
async function listen(
  place: ListenOptions | { readonly fd: number },
  { address, port }: BoundAddress,
  accept: (socket: Socket) => void,
): Promise<Server | null> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
  try {
    server.listen(place);
    await once(server, 'listening');
  } catch (error) {
    const code = errorCode(error);
    if (address === '::' && code === 'EAFNOSUPPORT') return null;
    throw new ListenError(address, port, code);
  }
  // Accepting may fail (EMFILE) and must not end the thread; the server continues with the next connection.
  server.on('error', () => undefined);
  return server;
}

function boundAddress(server: Server): BoundAddress {
  const bound = server.address();
  if (bound === null || typeof bound === 'string')
    throw new Error('could not read the bound address: the server is closed');
  return { address: bound.address, port: bound.port };
}

async function closeServer(server: Server): Promise<void> {
  const end = once(server, 'close');
  server.close();
  await end;
}
