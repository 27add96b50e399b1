/**
 * TLS for clients (RFC 7858, RFC 8484): performs handshakes on admitted connections, with the certificate that is
 * active when a handshake begins. Session tickets are encrypted with a key that all workers of all nodes share, so that
 * a client can resume a session with any worker or node.
 */
import { constants, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import { nodeTls } from '../../shared/lazy-builtins.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { TLS_CIPHERS } from '../../shared/net/tls-ciphers.ts';
import type { ServedCertificate } from '../../shared/threads/messages.ts';
import type { Reporter } from '../report/reporter.ts';
import { clientKeyIn, serverNameIn } from './client-hello.ts';
import { HandshakeLimit } from './handshake-limit.ts';

/** Time limit of a handshake. */
const HANDSHAKE_TIMEOUT_MS = 5000;
/**
 * Context of sessions. By default, the context depends on the program's directory, so a node would reject the sessions
 * of a node that was started from another directory.
 */
const SESSION_CONTEXT = 'weir';

/** Handles connections whose key is known, '' = none. */
export interface KeyedHandler {
  /** Whether to begin the handshake; if false, the connection is closed. */
  readonly mayHandshake: (clientKey: string) => boolean;
  readonly take: (secured: TLSSocket, clientKey: string) => void;
}

/** Performs handshakes of one protocol. One per listener. */
export class TlsSide {
  private readonly reporter: Pick<Reporter, 'count'>;
  private readonly protocols: readonly string[];
  /** TLS server that does not listen: connections are passed to it. The server is null before the first certificate. */
  private server: Server | null = null;
  private certificate: X509Certificate | null = null;
  /** Receivers of connections after their handshake, identified by the addresses and ports of both ends. */
  private readonly takers = new Map<string, (secured: TLSSocket) => void>();
  private readonly limit = new HandshakeLimit();
  private readonly timeoutMs: number;

  /** `protocols` are the names in ALPN (RFC 7301); a client that offers only other protocols is refused. */
  constructor(
    protocols: readonly string[],
    reporter: Pick<Reporter, 'count'>,
    timeoutMs = HANDSHAKE_TIMEOUT_MS,
  ) {
    this.protocols = protocols;
    this.reporter = reporter;
    this.timeoutMs = timeoutMs;
  }

  /** Uses this certificate for new connections. */
  use({ cert, key, ticketKeys }: ServedCertificate): void {
    this.server ??= this.makeServer();
    this.server.setSecureContext({
      cert,
      key,
      minVersion: 'TLSv1.2',
      ciphers: TLS_CIPHERS,
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      sessionIdContext: SESSION_CONTEXT,
    });
    this.certificate = new X509Certificate(cert);
    this.server.setTicketKeys(Buffer.from(ticketKeys));
  }

  /** Calls `take` after the handshake; if it fails, times out or exceeds the limits, the connection is closed. */
  secure(socket: Socket, address: Uint8Array, take: (secured: TLSSocket) => void): void {
    const { server } = this;
    if (server === null || !this.limit.admits(address, performance.now())) {
      socket.destroy();
      this.reporter.count(Counter.STREAMS_REFUSED);
      return;
    }
    this.reporter.count(Counter.TLS_HANDSHAKES);
    const ends = endsOf(socket);
    this.takers.set(ends, take);
    socket.once('close', () => this.takers.delete(ends));
    server.emit('connection', socket);
  }

  /** Same as `secure`, after reading the server name, which may contain a key. */
  secureNamed(socket: Socket, address: Uint8Array, { mayHandshake, take }: KeyedHandler): void {
    const begin = (serverName: string): void => {
      const clientKey = clientKeyIn(serverName, this.certificate);
      if (mayHandshake(clientKey)) {
        this.secure(socket, address, (secured) => take(secured, clientKey));
        return;
      }
      this.reporter.count(Counter.REFUSED_CLIENTS);
      socket.destroy();
    };
    const fail = (): void => {
      this.reporter.count(Counter.TLS_HANDSHAKES);
      this.reporter.count(Counter.TLS_HANDSHAKES_FAILED);
      socket.destroy();
    };
    awaitHello(socket, this.timeoutMs, begin, fail);
  }

  private makeServer(): Server {
    const options = {
      ALPNProtocols: [...this.protocols],
      handshakeTimeout: this.timeoutMs,
    };
    const server = nodeTls().createServer(options);
    server.on('secureConnection', (secured) => {
      const take = this.takers.get(endsOf(secured));
      if (take === undefined) secured.destroy();
      else take(secured);
    });
    server.on('tlsClientError', (_error, secured) => {
      this.reporter.count(Counter.TLS_HANDSHAKES_FAILED);
      secured.destroy();
    });
    return server;
  }
}

/**
 * Calls `take` with the server name in the ClientHello, and puts the bytes back for the handshake; with '' if the bytes
 * are not a ClientHello, which the handshake then reports as an error. Calls `fail` if the connection times out or ends
 * first.
 */
function awaitHello(
  socket: Socket,
  timeoutMs: number,
  take: (serverName: string) => void,
  fail: () => void,
): void {
  let octets: Buffer = Buffer.alloc(0);
  const done = (): void => {
    clearTimeout(late);
    socket.off('readable', check).off('end', leave).off('close', done);
  };
  const leave = (): void => {
    done();
    fail();
  };
  const check = (): void => {
    const more = socket.read() as Buffer | null;
    if (more === null) return;
    octets = octets.length === 0 ? more : Buffer.concat([octets, more]);
    const serverName = serverNameIn(octets);
    if (serverName === null) return;
    done();
    socket.unshift(octets);
    take(serverName);
  };
  const late = setTimeout(leave, timeoutMs);
  socket.on('readable', check).once('end', leave).once('close', done);
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
