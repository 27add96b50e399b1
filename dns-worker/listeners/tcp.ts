/**
 * DNS over TCP: listens on every address with SO_REUSEPORT, so that each worker has a listener of its own, lets
 * connections in within the limits and closes those that idle. Connections are handled by `stream-connection.ts`.
 */
import { errorCode } from '../../shared/thrown.ts';
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { createServer, isIPv6 } from 'node:net';
import { addressFromText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import { ListenError } from './listen-error.ts';
import type { StreamHandler } from './stream-connection.ts';
import { StreamConnection } from './stream-connection.ts';

export type { StreamClient, StreamHandler } from './stream-connection.ts';

/** A connection is closed after this long without a whole message in or out (RFC 7766 section 6.1). */
const IDLE_TIMEOUT_MS = 10_000;
/** Longest wait, when closing, for answers in flight. */
const CLOSE_GRACE_MS = 3000;

/** Where to listen and how many connections to accept. */
export interface ListenTcpOptions {
  readonly addresses: readonly string[];
  /** 0 = one that the system chooses, another for each address. */
  readonly port: number;
  /** Which connections are accepted. */
  readonly limit: ConnectionLimit;
  readonly idleTimeoutMs?: number;
}

/** An address listened on. */
export interface BoundAddress {
  readonly address: string;
  readonly port: number;
}

/** A running listener. */
export interface TcpListener {
  readonly addresses: readonly BoundAddress[];
  /**
   * Stops accepting and reading; resolves when queries in flight are answered, or after 3 s, and all sockets are
   * closed.
   */
  close(): Promise<void>;
}

/**
 * Listens on every address; throws a `ListenError`, with nothing left open, where one is unavailable. Where the kernel
 * has no IPv6, `::` beside `0.0.0.0` is left out.
 */
export async function listenTcp(options: ListenTcpOptions, handler: StreamHandler): Promise<TcpListener> {
  const accepted = new AcceptedConnections(options, handler);
  const servers: Server[] = [];
  try {
    for (const address of options.addresses) {
      const server = await listen(address, options.port, (socket) => accepted.accept(socket));
      if (server !== null) servers.push(server);
      else if (!options.addresses.includes('0.0.0.0'))
        throw new ListenError(address, options.port, 'EAFNOSUPPORT');
    }
  } catch (error) {
    await closeAll(servers, accepted);
    throw error;
  }
  return { addresses: servers.map(boundAddress), close: () => closeAll(servers, accepted) };
}

/** Null if the address is the IPv6 wildcard and the kernel has no IPv6. */
async function listen(
  address: string,
  port: number,
  accept: (socket: Socket) => void,
): Promise<Server | null> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
  try {
    server.listen({ host: address, port, ipv6Only: isIPv6(address), reusePort: true });
    await once(server, 'listening');
  } catch (error) {
    const code = errorCode(error);
    if (address === '::' && code === 'EAFNOSUPPORT') return null;
    throw new ListenError(address, port, code);
  }
  // Accepting may fail (EMFILE) and must not end the thread; the next connection is tried again.
  server.on('error', () => undefined);
  return server;
}

function boundAddress(server: Server): BoundAddress {
  const bound = server.address();
  if (bound === null || typeof bound === 'string')
    throw new Error('read bound address: the server is closed');
  return { address: bound.address, port: bound.port };
}

async function closeAll(servers: readonly Server[], accepted: AcceptedConnections): Promise<void> {
  const closed = servers.map(async (server) => {
    const end = once(server, 'close');
    server.close();
    await end;
  });
  accepted.close();
  await Promise.all(closed);
}

/** The connections that were accepted. */
class AcceptedConnections {
  private readonly connections = new Set<StreamConnection>();
  private readonly limit: ConnectionLimit;
  private readonly handler: StreamHandler;
  private readonly idleTimeoutMs: number;
  private readonly sweeping: NodeJS.Timeout;

  constructor(options: ListenTcpOptions, handler: StreamHandler) {
    this.handler = handler;
    this.limit = options.limit;
    this.idleTimeoutMs = options.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
    // One timer for all connections, reset by whole messages only: a client that drips octets counts as idle.
    this.sweeping = setInterval(() => this.sweep(), Math.min(1000, this.idleTimeoutMs / 4));
    this.sweeping.unref();
  }

  accept(socket: Socket): void {
    const ip = socket.remoteAddress;
    const address = ip === undefined ? null : addressFromText(ip);
    if (address === null || !this.limit.enter(address)) {
      socket.destroy();
      return;
    }
    const peer = { address, port: socket.remotePort ?? 0, protocol: Protocol.tcp };
    const connection = new StreamConnection(socket, peer, this.handler);
    this.connections.add(connection);
    socket.on('close', () => {
      this.connections.delete(connection);
      this.limit.leave(address);
    });
  }

  close(): void {
    clearInterval(this.sweeping);
    for (const connection of this.connections) connection.finish();
    if (this.connections.size === 0) return;
    const grace = setTimeout(() => {
      for (const connection of this.connections) connection.destroy();
    }, CLOSE_GRACE_MS);
    grace.unref();
  }

  private sweep(): void {
    const oldestMs = performance.now() - this.idleTimeoutMs;
    for (const connection of this.connections) {
      if (connection.lastActiveMs < oldestMs) connection.destroy();
    }
  }
}
