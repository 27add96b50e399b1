/**
 * A server for HTTPS and HTTP on one port, depending on the first byte of a connection. `https-redirect.ts` decides how
 * plain HTTP is answered.
 */
import type { RequestListener, ServerOptions } from 'node:http';
import { Server } from 'node:https';
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLS_CIPHERS } from '../../../shared/net/tls-ciphers.ts';
import type { CertificatePair } from '../tls/certificate-pair.ts';

/** Source of the server's certificate. */
export interface CertificateSource {
  current(): CertificatePair | null;
  onChange(listener: (pair: CertificatePair) => void): () => void;
}

/** Source of the keys for session tickets, of 48 bytes each. */
export interface TicketKeySource {
  current(): Uint8Array;
  onChange(listener: () => void): () => void;
}

/** TLS material of connections. */
export interface SecuredWith {
  readonly certificate: CertificateSource;
  readonly ticketKeys: TicketKeySource | undefined;
}

/**
 * TLS sessions are only valid in this context. Without an explicit context, a node does not accept sessions of a node
 * that was started from another directory.
 */
const SESSION_CONTEXT = 'weir web';

/**
 * First byte of a TLS connection: a record of type handshake (RFC 8446 section 5.1). No HTTP request starts with it.
 */
const TLS_HANDSHAKE = 22;

/** The server. Each new connection gets the current certificate, and its tickets the current key. */
export class SecureServer extends Server {
  /** The sockets of all connections, including those that have not sent anything yet. */
  private readonly sockets = new Set<Socket>();
  private readonly securedWith: SecuredWith;

  /** `firstMs` is the time limit for the first byte, and again for the handshake. */
  constructor(
    securedWith: SecuredWith,
    { firstMs, ...options }: ServerOptions & { readonly firstMs: number },
    listener: RequestListener,
  ) {
    super({ ...options, ...contextOf(null), handshakeTimeout: firstMs }, listener);
    this.securedWith = securedWith;
    // The server may listen again after it was closed.
    this.on('listening', () => this.follow());
    const takeTls = this.listeners('connection') as ((socket: Socket) => void)[];
    this.removeAllListeners('connection');
    this.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
      readFirstByte(socket, firstMs, (octet) => {
        if (octet === TLS_HANDSHAKE) for (const take of takeTls) take.call(this, socket);
        // For plain HTTP, emit the event by which TLS passes a decrypted connection to the HTTP server.
        else this.emit('secureConnection', socket);
      });
    });
  }

  /** Applies the certificate and keys, and then each of their changes until the server closes. */
  private follow(): void {
    const { certificate, ticketKeys } = this.securedWith;
    const useKeys = (): void => {
      if (ticketKeys !== undefined) this.setTicketKeys(Buffer.from(ticketKeys.current()));
    };
    const use = (pair: CertificatePair | null): void => {
      this.setSecureContext(contextOf(pair));
      useKeys();
    };
    use(certificate.current());
    const stops = [certificate.onChange(use), ticketKeys?.onChange(useKeys)];
    this.once('close', () => stops.forEach((stop) => stop?.()));
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const socket of this.sockets) socket.destroy();
  }
}

function contextOf(pair: CertificatePair | null) {
  return {
    ...(pair && { cert: pair.cert, key: pair.key }),
    minVersion: 'TLSv1.2',
    ciphers: TLS_CIPHERS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    sessionIdContext: SESSION_CONTEXT,
  } as const;
}

/**
 * Reads the first byte of a connection without consuming it, and passes it to `accept`; closes the connection if no
 * byte arrives in time.
 */
function readFirstByte(socket: Socket, withinMs: number, accept: (octet: number) => void): void {
  // Errors are ignored until `accept`, which then handles them.
  socket.on('error', () => undefined);
  const leave = (): void => void socket.destroy();
  const late = setTimeout(leave, withinMs);
  socket.once('close', () => clearTimeout(late));
  const check = (): void => {
    const first = socket.read(1) as Buffer | null;
    if (first === null) return;
    clearTimeout(late);
    socket.off('readable', check).off('end', leave);
    socket.unshift(first);
    accept(first[0]!);
  };
  socket.on('readable', check).once('end', leave);
}
