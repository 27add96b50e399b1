/**
 * Limits the connections of the web server, per client network and in total. At the limit, the network with the most
 * connections loses an idle one, so that a host that keeps opening idle connections only blocks itself. If Weir is
 * already closing a connection, which may take a second if a body was not read, a new connection of the same network
 * cuts it immediately.
 */
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Logger } from '../../../shared/log.ts';
import { clientNetwork } from '../../../shared/net/client-network.ts';
import type { SecuredSockets } from './secured-sockets.ts';

/** Maximum number of connections of all listeners; a flood must leave file descriptors for DNS. */
const MAX_CONNECTIONS = 500;
/** Maximum number of connections of one client network; a browser uses six. */
const MAX_PER_NETWORK = 50;
/** Minimum time between two log lines about the limits. */
const LOG_STEP_MS = 10_000;

interface Place {
  readonly socket: Socket;
  /** Null for a trusted proxy, which represents many clients. */
  readonly network: string | null;
  /** Number of requests whose head was read and that are not answered yet. */
  requests: number;
  /** The last response was sent: the connection only waits for the client to read it. */
  isEnding: boolean;
}

/** The open connections, in order of arrival. */
export class ConnectionLimits {
  private readonly places = new Map<Socket, Place>();
  private readonly counts = new Map<string, number>();
  private readonly secured: SecuredSockets;
  private readonly logger: Logger;
  private readonly isTrustedProxy: (address: string) => boolean;
  private refused = 0;
  private logTimer: NodeJS.Timeout | undefined;

  constructor(secured: SecuredSockets, logger: Logger, isTrustedProxy: (address: string) => boolean) {
    this.secured = secured;
    this.logger = logger;
    this.isTrustedProxy = isTrustedProxy;
  }

  /** Limits the connections of a server, together with those of the servers watched before. */
  watch(server: HttpServer | HttpsServer): void {
    server.on('connection', (socket: Socket) => this.admit(socket));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const place = this.places.get(this.secured.acceptedBelow(request.socket));
      if (place === undefined) return;
      place.requests++;
      response.once('close', () => {
        place.requests--;
        place.isEnding ||= !response.shouldKeepAlive;
      });
    });
  }

  private admit(socket: Socket): void {
    const address = socket.remoteAddress;
    // The connection is already closed.
    if (address === undefined) return;
    const network = this.isTrustedProxy(address) ? null : clientNetwork(address);
    if (!this.makeRoomFor(network)) {
      socket.destroy();
      this.noteRefusal(address);
      return;
    }
    this.places.set(socket, { socket, network, requests: 0, isEnding: false });
    if (network !== null) this.counts.set(network, (this.counts.get(network) ?? 0) + 1);
    socket.once('close', () => this.free(socket));
  }

  /** Whether a connection of this network may be added. May close another connection to make space. */
  private makeRoomFor(network: string | null): boolean {
    const isNetworkFull = network !== null && (this.counts.get(network) ?? 0) >= MAX_PER_NETWORK;
    if (isNetworkFull)
      return this.close(
        [...this.places.values()].find((place) => place.network === network && place.isEnding),
      );
    return this.places.size < MAX_CONNECTIONS || this.closeIdle();
  }

  /** Closes the oldest idle connection of the network with the most connections; false if there is none. */
  private closeIdle(): boolean {
    const quiet = [...this.places.values()].filter(({ requests }) => requests === 0);
    const groups = [...Map.groupBy(quiet, ({ network }) => network).values()];
    const largest = groups.reduce((max, group) => (group.length > max.length ? group : max), []);
    return this.close(largest[0]);
  }

  private close(place: Place | undefined): boolean {
    if (place === undefined) return false;
    this.free(place.socket);
    place.socket.destroy();
    return true;
  }

  private free(socket: Socket): void {
    const place = this.places.get(socket);
    if (place === undefined) return;
    this.places.delete(socket);
    if (place.network === null) return;
    const left = (this.counts.get(place.network) ?? 0) - 1;
    if (left > 0) this.counts.set(place.network, left);
    else this.counts.delete(place.network);
  }

  private noteRefusal(address: string): void {
    this.refused++;
    this.logTimer ??= setTimeout(() => {
      this.logger.warn('refused connections: too many open', { connections: this.refused, last: address });
      this.refused = 0;
      this.logTimer = undefined;
    }, LOG_STEP_MS).unref();
  }
}
