/**
 * Chooses the DNS port. Threads listen with SO_REUSEPORT, which would silently share a port with another server of the
 * same user; so each address is first tried without this option, over UDP and TCP. If port 53 is not configured
 * explicitly and is unavailable, port 5300 is used, and the log contains the reason and what to do.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6 } from 'node:net';
import { hasErrorCode } from '../../shared/errors.ts';

/** Reason why a DNS port cannot be bound, and what to do, by error code. */
const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses this port; stop it or choose another port',
  EACCES: 'ports below 1024 need root or CAP_NET_BIND_SERVICE; choose another port',
  EADDRNOTAVAIL: 'this machine does not have that address; see server.bind_address',
};

export class DnsListenError extends Error {
  readonly code: string;
  constructor(address: string, port: number, code: string) {
    const why = LISTEN_FAULTS[code] ?? code;
    super(`could not listen for DNS on ${address} port ${String(port)}: ${why}`);
    this.name = 'DnsListenError';
    this.code = code;
  }
}

/** Port that is used if port 53 is not configured explicitly and cannot be bound. */
export const FALLBACK_DNS_PORT = 5300;

/** Error: the requested port is unavailable. The message contains the reason and what to do. */
export class DnsPortUnavailable extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'DnsPortUnavailable';
  }
}

/** A usable port, and the reason if it differs from the configured one. */
export interface ChosenPort {
  readonly port: number;
  readonly notice: string | null;
}

/** Tries `port` and, unless `explicit`, also port 5300. Throws DnsPortUnavailable. */
export async function chooseDnsPort(
  addresses: readonly string[],
  port: number,
  explicit: boolean,
): Promise<ChosenPort> {
  const failure = await tryPort(addresses, port);
  if (failure === null) return { port, notice: null };
  const reason = explain(failure, port);
  if (explicit) throw new DnsPortUnavailable(reason, failure.cause);
  const second = await tryPort(addresses, FALLBACK_DNS_PORT);
  if (second === null) return { port: FALLBACK_DNS_PORT, notice: reason };
  throw new DnsPortUnavailable(`${reason}; ${explain(second, FALLBACK_DNS_PORT)}`, second.cause);
}

/** Whether the DNS listeners can use the port: `taken` by another program, or `not_permitted` for this user. */
export type PortState = 'free' | 'taken' | 'not_permitted';

/** Tries to bind the port without keeping it. */
export async function portState(addresses: readonly string[], port: number): Promise<PortState> {
  const failure = await tryPort(addresses, port);
  if (failure === null) return 'free';
  return hasErrorCode(failure.cause, 'EACCES') || hasErrorCode(failure.cause, 'EPERM')
    ? 'not_permitted'
    : 'taken';
}

interface PortFailure {
  readonly address: string;
  readonly transport: 'UDP' | 'TCP';
  readonly cause: unknown;
}

async function tryPort(addresses: readonly string[], port: number): Promise<PortFailure | null> {
  for (const address of addresses) {
    for (const [transport, bind] of [
      ['UDP', bindUdp],
      ['TCP', bindTcp],
    ] as const) {
      try {
        await bind(address, port);
      } catch (cause) {
        // If the kernel lacks IPv6, Weir listens only on IPv4.
        if (address === '::' && hasErrorCode(cause, 'EAFNOSUPPORT') && addresses.includes('0.0.0.0'))
          continue;
        return { address, transport, cause };
      }
    }
  }
  return null;
}

async function bindUdp(address: string, port: number): Promise<void> {
  const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', ipv6Only: isIPv6(address) });
  try {
    socket.bind({ address, port, exclusive: true });
    await once(socket, 'listening');
  } finally {
    socket.close();
  }
}

async function bindTcp(address: string, port: number): Promise<void> {
  const server = createServer();
  server.listen({ host: address, port, exclusive: true, ipv6Only: isIPv6(address) });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

function explain(failure: PortFailure, port: number): string {
  const where = `${failure.address} ${failure.transport} port ${String(port)}`;
  if (hasErrorCode(failure.cause, 'EACCES') || hasErrorCode(failure.cause, 'EPERM'))
    return (
      `could not listen on ${where}: not permitted (ports below 1024 need root, or the capability ` +
      `CAP_NET_BIND_SERVICE, or: sysctl net.ipv4.ip_unprivileged_port_start=${String(port)})`
    );
  if (hasErrorCode(failure.cause, 'EADDRINUSE'))
    return (
      `could not listen on ${where}: it is used by another program (find it with: ss -lnup 'sport = ` +
      `:${String(port)}'; systemd-resolved releases it with DNSStubListener=no), or set ` +
      'server.bind_address or server.dns_port'
    );
  if (hasErrorCode(failure.cause, 'EADDRNOTAVAIL'))
    return `could not listen on ${where}: this machine does not have that address; correct server.bind_address`;
  return `could not listen on ${where}: ${failure.cause instanceof Error ? failure.cause.message : String(failure.cause)}`;
}
