/** Listens for HTTP, or HTTPS and HTTP, on every bind address. Requests are answered by `app.ts`. */
import type { Express } from 'express';
import { closeSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isIPv6 } from 'node:net';
import type { Config } from '../../../config/schema.ts';
import { nodeHttp } from '../../../shared/lazy-builtins.ts';
import type { Logger } from '../../../shared/log.ts';
import { descriptorOf } from '../../host/descriptor-of.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { MAX_FIELDS, MAX_HEAD_BYTES } from './message-check.ts';
import { ProxyEntrance, proxySenders } from './proxy-entrance.ts';
import { answerUnreadable } from './refused-requests.ts';
import { SecuredSockets } from './secured-sockets.ts';
import { SecureServer } from './secure-server.ts';
import type { CertificateSource, TicketKeySource } from './secure-server.ts';

type Server = HttpServer | HttpsServer;

/** Time limits for clients, so that slow clients do not occupy connections. */
export interface WebDeadlines {
  /**
   * Milliseconds from the opening of a connection, or the first byte of a later request, to the end of the head. With
   * TLS, the limit also applies to the first byte, and then to the end of the handshake.
   */
  readonly headMs: number;
  /** Milliseconds until the end of the body. */
  readonly requestMs: number;
  /** Milliseconds between a response and the next request. */
  readonly idleMs: number;
  /** Milliseconds without a byte in either direction while a response is prepared or sent. */
  readonly silentMs: number;
}

const DEADLINES: WebDeadlines = { headMs: 10_000, requestMs: 30_000, idleMs: 10_000, silentMs: 120_000 };
/** Interval at which Node checks for slow clients; 30 s by default. */
const POLL_MS = 1000;
/** Requests after which a connection is closed. */
const MAX_REQUESTS_PER_CONNECTION = 1000;
/** Time for responses to finish when Weir stops; DNS drains afterwards, and the whole stop takes 5 s. */
const CLOSE_GRACE_MS = 500;

/** The web server cannot listen. The message contains the address, the reason and the remedy. */
export class WebServerError extends Error {
  readonly address: string;
  readonly port: number;
  /** System error code, such as EADDRINUSE. */
  readonly code: string;

  constructor(address: string, port: number, cause: NodeJS.ErrnoException) {
    super(`could not listen for HTTP on ${endpoint(address, port)}: ${explain(cause, port)}`, { cause });
    this.name = 'WebServerError';
    this.address = address;
    this.port = port;
    this.code = cause.code ?? 'UNKNOWN';
  }
}

/** A listening web server. */
export interface WebServer {
  /** Addresses on which the server listens, with the actual ports if the configuration has 0. */
  readonly endpoints: readonly { readonly address: string; readonly port: number }[];
  /** The listening sockets. */
  descriptors(): readonly number[];
  /** Stops listening immediately, waits briefly for running responses, then closes all remaining connections. */
  close(): Promise<void>;
  /**
   * Like `close`, but queues new connections on copies of the sockets, which are returned for another process or for
   * `resume`.
   */
  pause(copy: (descriptor: number) => number): Promise<readonly number[]>;
  /** Accepts connections again: first those queued on the copies, or on the inherited listeners (`isHeldBack`). */
  resume(): void;
}

/** Options of the server. */
export interface WebServerOptions {
  readonly deadlines?: WebDeadlines;
  /** Certificate for HTTPS; the same port then serves both HTTPS and HTTP. */
  readonly certificate?: CertificateSource | undefined;
  /** Keys that encrypt TLS session tickets; without them, each listener has its own keys. */
  readonly ticketKeys?: TicketKeySource | undefined;
  /**
   * A socket of another process that already listens at this address and port, if any; `dualStack`: whether it also
   * accepts IPv4.
   */
  readonly listenerAt?: (address: string, port: number, dualStack: boolean) => number | undefined;
  /** Whether to accept nothing on inherited sockets until `resume()`. */
  readonly isHeldBack?: boolean;
}

/**
 * Listens on `server.web_port` of every `server.bind_address`. @throws {WebServerError} if one is unavailable; then no
 * address is listened on.
 */
export async function startWebServer(
  app: Express,
  config: Config,
  logger: Logger,
  options: WebServerOptions = {},
): Promise<WebServer> {
  const { bind_address: addresses, web_port: port } = config.server;
  const isTrustedProxy = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  const secured = new SecuredSockets();
  const limits = new ConnectionLimits(secured, logger, (address) => isTrustedProxy(address, 0));
  const entrance = new ProxyEntrance(proxySenders(config), secured, logger);
  const servers: Server[] = [];
  const endpoints: WebServer['endpoints'][number][] = [];
  const waiting = new Map<Server, number>();
  const close = async (): Promise<void> => {
    entrance.close();
    await Promise.all(servers.map(closeServer));
  };
  try {
    for (const address of addresses) {
      const server = webServer(app, options);
      limits.watch(server);
      entrance.guard(server);
      secured.watch(server);
      const ipv6Only = isIPv6(address) && addresses.includes('0.0.0.0');
      const fd = options.listenerAt?.(address, port, isIPv6(address) && !ipv6Only);
      if (fd !== undefined && options.isHeldBack === true) {
        waiting.set(server, fd);
        servers.push(livingOn(server, address, logger));
        endpoints.push({ address, port });
        continue;
      }
      const place = fd === undefined ? { host: address, port, ipv6Only } : { fd };
      const isListening = await listen(server, place, { address, port });
      if (isListening) {
        servers.push(livingOn(server, address, logger));
        endpoints.push(endpointOf(server));
      } else logger.warn('skipped a bind address: this machine has no IPv6', { address });
    }
  } catch (error) {
    for (const fd of waiting.values()) closeSync(fd);
    await close();
    throw error;
  }
  const protocol = options.certificate === undefined ? 'HTTP' : 'HTTPS';
  for (const found of endpoints) logger.info(`listening for ${protocol}`, { ...found });
  return { endpoints, close, descriptors: () => servers.map(descriptorOf), ...pausing(servers, waiting) };
}

/** `waiting`: listeners, or copies of them, from which a server will accept connections later. */
function pausing(
  servers: readonly Server[],
  waiting: Map<Server, number>,
): Pick<WebServer, 'pause' | 'resume'> {
  return {
    pause: async (copy) => {
      for (const server of servers) waiting.set(server, copy(descriptorOf(server)));
      await Promise.all(servers.map(closeServer));
      return [...waiting.values()];
    },
    resume: () => {
      for (const [server, fd] of waiting) server.listen({ fd });
      waiting.clear();
    },
  };
}

/** The server; later errors, such as EMFILE on accept, end neither the server nor the process. */
function livingOn(server: Server, address: string, logger: Logger): Server {
  return server.on('error', (error: Error) =>
    logger.error('http listener failed', { address, error: error.message }),
  );
}

function endpointOf(server: Server): WebServer['endpoints'][number] {
  const { address, port } = server.address() as AddressInfo;
  return { address, port };
}

function webServer(
  app: Express,
  { deadlines = DEADLINES, certificate, ticketKeys }: WebServerOptions,
): Server {
  const { headMs, requestMs, idleMs, silentMs } = deadlines;
  const options = {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: POLL_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    insecureHTTPParser: false,
  };
  const server =
    certificate === undefined
      ? nodeHttp().createServer(options, app)
      : new SecureServer({ certificate, ticketKeys }, { ...options, firstMs: headMs }, app);
  server.setTimeout(silentMs);
  // Node drops fields beyond this number; one more than allowed is enough to detect too many fields.
  server.maxHeadersCount = MAX_FIELDS + 1;
  answerUnreadable(server);
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_CONNECTION;
  return server;
}

/** Listens; false if the address is the IPv6 wildcard and the machine has no IPv6. */
function listen(
  server: Server,
  place: { readonly host: string; readonly ipv6Only: boolean } | { readonly fd: number },
  { address, port }: WebServer['endpoints'][number],
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const lacksIpv6 = error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL';
      if (address === '::' && 'ipv6Only' in place && place.ipv6Only && lacksIpv6) resolve(false);
      else reject(new WebServerError(address, port, error));
    });
    server.listen({ port, ...place }, () => {
      server.removeAllListeners('error');
      resolve(true);
    });
  });
}

/** Stops listening immediately, waits briefly for running responses, then closes all remaining connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function endpoint(address: string, port: number): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

function explain(error: NodeJS.ErrnoException, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `port ${port} is in use by another program; stop that program or choose another server.web_port`;
    case 'EACCES':
      return `only root can open port ${port}; choose a server.web_port of 1024 or above`;
    case 'EADDRNOTAVAIL':
      return 'this machine does not have that address; see server.bind_address';
    default:
      return error.message;
  }
}
