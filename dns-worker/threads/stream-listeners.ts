/** The stream listeners of a resolve thread: DNS over TCP, over TLS and over HTTPS. */
import type { Logger } from '../../shared/log.ts';
import { networkFromText } from '../../shared/net/cidr.ts';
import { Protocol } from '../../shared/query-log.ts';
import type { ServedCertificate, ThreadStart, WorkerSettings } from '../../shared/threads/messages.ts';
import { ListeningSockets } from '../listeners/listening-sockets.ts';
import type { NativeCalls } from '../listeners/native-calls.ts';
import type { Reporter } from '../report/reporter.ts';
import { ConnectionLimit } from '../streams/connection-limit.ts';
import { DOH_PROTOCOLS, listenDoh } from '../streams/doh.ts';
import { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { endStreamsSoon } from '../query/stream-options.ts';
import type { StreamHandler } from '../streams/stream-connection.ts';
import type { StreamPort } from '../streams/stream-port.ts';
import { DOT_PROTOCOLS, listenDot, listenTcp } from '../streams/tcp.ts';
import type { ListenOptions } from '../streams/client-port.ts';
import { TlsSide } from '../streams/tls-side.ts';
import type { RequestIntake } from './request-intake.ts';

/** Connections of all clients to this thread, by protocol. */
const MAX_CONNECTIONS = { tcp: 1024, dot: 1024, doh: 512 } as const;

/** What the listeners work with. */
interface ListenerParts {
  readonly start: ThreadStart;
  readonly intake: RequestIntake;
  readonly reporter: Reporter;
  readonly logger: Logger;
  /** Null if Node opens the sockets. */
  readonly calls: NativeCalls | null;
}

/** The listeners of one thread. */
export class StreamListeners {
  private readonly parts: ListenerParts;
  private readonly limits: Readonly<Record<'tcp' | 'dot' | 'doh', ConnectionLimit>>;
  private readonly tls: { readonly dot: TlsSide; readonly doh: TlsSide };
  private readonly ports: StreamPort[] = [];
  private readonly sockets: ListeningSockets | null;

  constructor(parts: ListenerParts) {
    const { start, reporter, calls } = parts;
    this.parts = parts;
    this.sockets = calls === null ? null : new ListeningSockets(calls, new Int32Array(start.memory.control));
    const limitOf = (name: keyof typeof MAX_CONNECTIONS): ConnectionLimit =>
      new ConnectionLimit({
        table: start.connections,
        worker: start.worker,
        protocol: Protocol[name],
        maxPerAddress: 0,
        max: MAX_CONNECTIONS[name],
      });
    this.limits = { tcp: limitOf('tcp'), dot: limitOf('dot'), doh: limitOf('doh') };
    this.limitBy(start.given.settings);
    this.tls = { dot: new TlsSide(DOT_PROTOCOLS, reporter), doh: new TlsSide(DOH_PROTOCOLS, reporter) };
    if (start.certificate !== null) this.useCertificate(start.certificate);
  }

  /** Opens the listeners that are on. Throws a ListenError. */
  async open(): Promise<void> {
    const { settings } = this.parts.start.given;
    const { dnsPort, dotPort, dohPort, trustedProxies } = settings;
    const { limits, tls, ports } = this;
    const handler: StreamHandler = (message, client) => this.parts.intake.answer(message, client);
    ports.push(await listenTcp(this.optionsOf(dnsPort, limits.tcp), handler));
    if (dotPort !== null)
      ports.push(await listenDot({ ...this.optionsOf(dotPort, limits.dot), tls: tls.dot }, handler));
    if (dohPort === null) return;
    const networks = trustedProxies.flatMap((text) => networkFromText(text) ?? []);
    const options = { ...this.optionsOf(dohPort, limits.doh), tls: tls.doh, trustedProxies: networks };
    ports.push(await listenDoh(options, handler));
  }

  /** Limits connections by other settings from now on. */
  limitBy({ tcpMaxConnectionsPerIp, dotMaxConnectionsPerIp }: WorkerSettings): void {
    this.limits.tcp.limitTo(tcpMaxConnectionsPerIp);
    this.limits.dot.limitTo(dotMaxConnectionsPerIp);
    this.limits.doh.limitTo(dotMaxConnectionsPerIp);
  }

  /** New connections get this certificate. */
  useCertificate(certificate: ServedCertificate): void {
    this.tls.dot.use(certificate);
    this.tls.doh.use(certificate);
  }

  /** Accepts and reads no more; resolves when what is in flight is answered, or after 3 s, and all is closed. */
  async close(keepSockets: boolean): Promise<void> {
    if (keepSockets) endStreamsSoon();
    const closed = this.ports.map((port) => port.close(keepSockets));
    if (!keepSockets) this.sockets?.close();
    await Promise.all(closed);
  }

  private optionsOf(port: number, limit: ConnectionLimit): ListenOptions {
    const { start, reporter, logger } = this.parts;
    const { bindAddresses: addresses, proxyProtocol } = start.given.settings;
    const { sockets } = this;
    return {
      addresses,
      port,
      ...(sockets === null ? {} : { descriptorsAt: (place) => sockets.at(place) }),
      limit,
      admission: { senders: new ProxySenders(proxyProtocol), reporter, logger },
    };
  }
}
