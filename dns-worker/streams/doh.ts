/**
 * DNS over HTTPS (RFC 8484) over HTTP/2 and HTTP/1.1: one worker's listeners. This file sets the limits of HTTP;
 * `doh-target.ts` reads the DNS query from a request, `doh-connection.ts` answers it.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { nodeHttp } from '../../shared/lazy-builtins.ts';
import type { Network } from '../../shared/net/cidr.ts';
import type { Peer } from '../../shared/net/stream-greetings.ts';
import { listenForClients } from './client-port.ts';
import type { ListenOptions } from './client-port.ts';
import { DohConnection, MAX_BUFFERED } from './doh-connection.ts';
import { MAX_DOH_QUERY_SIZE, readDohTarget } from '../../shared/dns/doh-target.ts';
import { forwardedClient } from './forwarded-client.ts';
import { H2Session } from './h2/h2-session.ts';
import type { H2Limits } from './h2/h2-session.ts';
import type { OpenConnections } from './open-connections.ts';
import { MAX_QUERIES_IN_FLIGHT, MAX_UNSENT_BYTES } from './stream-connection.ts';
import type { StreamHandler } from './stream-connection.ts';
import type { StreamPort } from './stream-port.ts';
import type { TlsSide } from './tls-side.ts';

const H2 = 'h2';
/** Names in ALPN; a client without ALPN gets HTTP/1.1. */
export const DOH_PROTOCOLS: readonly string[] = [H2, 'http/1.1'];
/** Maximum size of a request's header section: a GET has its message in the path. */
const MAX_HEAD_SIZE = 8192;
const H2_LIMITS: H2Limits = {
  streams: MAX_QUERIES_IN_FLIGHT,
  bodySize: MAX_DOH_QUERY_SIZE,
  buffered: MAX_BUFFERED,
  unsent: MAX_UNSENT_BYTES,
};

/** Addresses on which to listen, and trusted proxies. */
export interface ListenDohOptions extends ListenOptions {
  readonly tls: TlsSide;
  /** Reverse proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly Network[];
}

/** Listens for DNS over HTTPS. Throws a ListenError. */
export function listenDoh(options: ListenDohOptions, handler: StreamHandler): Promise<StreamPort> {
  const speakers = new HttpSpeakers(options.trustedProxies, handler);
  return listenForClients(options, (socket, peer, open) =>
    options.tls.secure(socket, peer.address, (secured) => speakers.take(secured, peer, open)),
  );
}

/** Serves both versions of HTTP on connections after their handshake. */
class HttpSpeakers {
  private readonly handler: StreamHandler;
  private readonly trusted: readonly Network[];
  /** HTTP/1.1 server that does not listen: connections are passed to it. */
  private readonly http1: Server;
  private readonly http1Connections = new WeakMap<Socket, { connection: DohConnection; peer: Peer }>();

  constructor(trusted: readonly Network[], handler: StreamHandler) {
    this.handler = handler;
    this.trusted = trusted;
    this.http1 = nodeHttp().createServer(
      { maxHeaderSize: MAX_HEAD_SIZE, noDelay: true, keepAliveTimeout: 0 },
      (request, response) => this.takeRequest(request, response),
    );
  }

  take(socket: TLSSocket, peer: Peer, open: OpenConnections): void {
    const connection =
      socket.alpnProtocol === H2 ? this.takeHttp2(socket, peer) : this.takeHttp1(socket, peer);
    open.add(connection);
    socket.once('close', () => open.delete(connection));
  }

  private takeHttp1(socket: TLSSocket, peer: Peer): DohConnection {
    const end = { finish: () => socket.destroySoon(), destroy: () => void socket.destroy() };
    const connection = new DohConnection(end, this.handler);
    this.http1Connections.set(socket, { connection, peer });
    this.http1.emit('connection', socket);
    return connection;
  }

  private takeRequest(request: IncomingMessage, response: ServerResponse): void {
    const { connection, peer } = this.http1Connections.get(request.socket)!;
    const target = readDohTarget(
      request.method ?? '',
      request.url ?? '',
      request.headers['content-type'] ?? '',
    );
    const forwardedFor = request.headers['x-forwarded-for'];
    connection.take(target, request, {
      client: this.clientOf(peer, Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor),
      end: (status, fields, body) => {
        if (response.headersSent || response.destroyed) return;
        // If the request's body was not read to its end, HTTP would parse the rest as the next request.
        const isRead = request.complete || !hasBody(request);
        const fate = isRead && !connection.isRetired ? {} : { connection: 'close' };
        response.writeHead(status, { 'content-length': 0, ...fields, ...fate }).end(body);
      },
    });
  }

  private takeHttp2(socket: TLSSocket, peer: Peer): DohConnection {
    // Errors are ignored, because 'close' follows.
    socket.on('error', () => undefined);
    const session = new H2Session(socket, H2_LIMITS, (request) => {
      const { method, path, contentType, forwardedFor, body } = request;
      connection.answer(readDohTarget(method, path, contentType), body, {
        client: this.clientOf(peer, forwardedFor),
        end: (status, fields, reply) => request.end(status, fields, reply),
      });
    });
    const end = {
      finish: () => session.finish(),
      destroy: () => void socket.destroy(),
      retire: () => session.retire(),
    };
    const connection = new DohConnection(end, this.handler);
    return connection;
  }

  private clientOf({ address }: Peer, forwardedFor: string | undefined): Uint8Array {
    return forwardedFor === '' ? address : forwardedClient(address, forwardedFor, this.trusted);
  }
}

/** Whether a request has a body (RFC 9112 section 6). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
