/**
 * The PROXY protocol on the web port: a connection belongs to the client named in its header. After the header is read,
 * the socket has that client's address, which is used by limits, sessions, lockout, audit log and X-Forwarded-For.
 */
import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { isIPv6 } from 'node:net';
import type { Socket } from 'node:net';
import type { Config } from '../../../config/schema.ts';
import { CountedLine } from '../../../shared/counted-line.ts';
import type { RunLater } from '../../../shared/counted-line.ts';
import type { Logger } from '../../../shared/log.ts';
import { addressToText } from '../../../shared/net/ip.ts';
import { ProxySenders } from '../../../shared/net/proxy-senders.ts';
import { StreamGreetings } from '../../../shared/net/stream-greetings.ts';
import type { Peer } from '../../../shared/net/stream-greetings.ts';
import { admitProxied } from '../../api/proxied-requests.ts';
import type { SecuredSockets } from './secured-sockets.ts';

const later: RunLater = (work, delayMs) => {
  const timer = setTimeout(work, delayMs).unref();
  return () => clearTimeout(timer);
};

/** Reads the PROXY headers of all listeners of the web port. */
export class ProxyEntrance {
  private readonly greetings: StreamGreetings;
  private readonly secured: SecuredSockets;
  private readonly clients = new WeakMap<Socket, Peer>();

  constructor(senders: ProxySenders, secured: SecuredSockets, logger: Logger) {
    const badHeaders = new CountedLine(
      logger,
      'closed web connections: invalid or missing PROXY header',
      later,
    );
    const overflows = new CountedLine(
      logger,
      'closed web connections: too many are waiting for a PROXY header',
      later,
    );
    this.secured = secured;
    this.greetings = new StreamGreetings({
      senders,
      later,
      onBadHeader: ({ address }) => badHeaders.note({ last: addressToText(address) }),
      onOverflow: () => overflows.note({}),
    });
  }

  /** Withholds each connection from the server's existing listeners until its header is read. */
  guard(server: HttpServer | HttpsServer): void {
    const takers = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) =>
      this.greetings.greet(socket, (client) => {
        if (client.isProxied) this.rename(socket, client);
        for (const take of takers) take.call(server, socket);
      }),
    );
    server.prependListener('secureConnection', (socket: Socket) => {
      const client = this.clients.get(this.secured.acceptedBelow(socket));
      if (client !== undefined) this.rename(socket, client);
    });
  }

  /** Closes the connections that wait for a header. */
  close(): void {
    this.greetings.close();
  }

  private rename(socket: Socket, client: Peer): void {
    const remoteAddress = addressToText(client.address);
    const remoteFamily = isIPv6(remoteAddress) ? 'IPv6' : 'IPv4';
    const known = { remoteAddress, remoteFamily, remotePort: client.port };
    for (const [name, value] of Object.entries(known))
      Object.defineProperty(socket, name, { value, configurable: true });
    this.clients.set(socket, client);
    admitProxied(socket);
  }
}

/** The peers that send a header according to the configuration. */
export function proxySenders({ server }: Config): ProxySenders {
  return new ProxySenders(server.proxy_protocol_enabled ? server.proxy_protocol_trusted : null);
}
