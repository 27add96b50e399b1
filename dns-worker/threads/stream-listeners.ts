/** The stream listeners of a resolve thread: DNS over TCP, over TLS and over HTTPS. */
import type { Logger } from '../../shared/log.ts';
import { networkFromText } from '../../shared/net/cidr.ts';
import type { Network } from '../../shared/net/cidr.ts';
import { Protocol } from '../../shared/query-log.ts';
import type { ServedCertificate, ThreadStart, WorkerSettings } from '../../shared/threads/messages.ts';
import { ListeningSockets } from '../listeners/listening-sockets.ts';
import type { NativeCalls } from '../listeners/native-calls.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import type { Reporter } from '../report/reporter.ts';
import { ConnectionLimit } from '../streams/connection-limit.ts';
import { DOH_PROTOCOLS, listenDoh } from '../streams/doh.ts';
import { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { endStreamsSoon } from '../query/stream-options.ts';
import type { StreamHandler } from '../streams/stream-connection.ts';
import type { StreamPort } from '../streams/stream-port.ts';
import { DOT_PROTOCOLS, listenDot, listenTcp } from '../streams/tcp.ts';
import type { ListenOptions } from '../streams/client-port.ts';
import { StreamAccess } from '../streams/stream-access.ts';
import { TlsSide } from '../streams/tls-side.ts';
import type { RequestIntake } from './request-intake.ts';

/** Maximum number of connections to this thread, by protocol. */
const MAX_CONNECTIONS = { tcp: 1024, dot: 1024, doh: 512 } as const;

interface ListenerParts {
  readonly start: ThreadStart;
  readonly intake: RequestIntake;
  /** Returns the active snapshot. */
  readonly snapshot: () => OpenSnapshot;
  readonly reporter: Reporter;
  readonly logger: Logger;
  /** System calls for opening sockets; null if Node.js opens them. */
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

  /** Opens the enabled listeners. Throws a ListenError. */
  async open(): Promise<void> {
    const { settings } = this.parts.start.given;
    const { dnsPort, dotPort, dohPort, trustedProxies } = settings;
    const { limits, tls, ports } = this;
    const handler: StreamHandler = (message, client) => this.parts.intake.answer(message, client);
    const senders = networksOf(settings.proxyProtocol ?? []);
    const access = new StreamAccess(this.parts.snapshot, senders);
    const plain = (address: Uint8Array): boolean => access.mayConnect(address, false);
    ports.push(await listenTcp(this.optionsOf(dnsPort, limits.tcp, plain), handler));
    const named = (address: Uint8Array): boolean => access.mayConnect(address, true);
    const mayHandshake = access.mayHandshake.bind(access);
    if (dotPort !== null) {
      const options = { ...this.optionsOf(dotPort, limits.dot, named), tls: tls.dot, mayHandshake };
      ports.push(await listenDot(options, handler));
    }
    if (dohPort === null) return;
    const proxies = networksOf(trustedProxies);
    const forwarding = new StreamAccess(this.parts.snapshot, [...senders, ...proxies]);
    const options = this.optionsOf(dohPort, limits.doh, (address) => forwarding.mayConnect(address, true));
    ports.push(await listenDoh({ ...options, tls: tls.doh, trustedProxies: proxies }, handler));
  }

  /** Replaces the limits for connections. */
  limitBy({ tcpMaxConnectionsPerIp, dotMaxConnectionsPerIp }: WorkerSettings): void {
    this.limits.tcp.limitTo(tcpMaxConnectionsPerIp);
    this.limits.dot.limitTo(dotMaxConnectionsPerIp);
    this.limits.doh.limitTo(dotMaxConnectionsPerIp);
  }

  /** Uses this certificate for new connections. */
  useCertificate(certificate: ServedCertificate): void {
    this.tls.dot.use(certificate);
    this.tls.doh.use(certificate);
  }

  /**
   * Accepts no more connections and reads no more requests; resolves when all connections are closed, after requests in
   * flight are answered or 3 s have passed.
   */
  async close(keepSockets: boolean): Promise<void> {
    if (keepSockets) endStreamsSoon();
    const closed = this.ports.map((port) => port.close(keepSockets));
    if (!keepSockets) this.sockets?.close();
    await Promise.all(closed);
  }

  private optionsOf(
    port: number,
    limit: ConnectionLimit,
    mayConnect: (address: Uint8Array) => boolean,
  ): ListenOptions {
    const { start, reporter, logger } = this.parts;
    const { bindAddresses: addresses, proxyProtocol } = start.given.settings;
    const { sockets } = this;
    return {
      addresses,
      port,
      ...(sockets === null ? {} : { descriptorsAt: (place) => sockets.at(place) }),
      limit,
      admission: { senders: new ProxySenders(proxyProtocol), reporter, logger, mayConnect },
    };
  }
}

function networksOf(texts: readonly string[]): Network[] {
  return texts.flatMap((text) => networkFromText(text) ?? []);
}
