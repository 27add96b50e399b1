/**
 * TLS to upstreams, for DoT and DoH: the name that a certificate must have, the trusted CAs, and the session that the
 * next connection resumes. `exchange-tcp.ts` and `exchange-https.ts` use the connection.
 */
import { isIP } from 'node:net';
import type { OnReadOpts } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { nodeTls } from '../../../shared/lazy-builtins.ts';
import type { ServerAddress } from './exchange.ts';
import type { StreamKind } from './exchange-tcp.ts';

/** RFC 8467 section 4.1: queries are padded to a multiple of this many octets. */
export const PADDING_BLOCK = 128;

/** Idle TLS connections are kept longer than plain TCP connections, because a handshake costs more. */
const IDLE_TIMEOUT_MS = 30_000;

/** Opens TLS connections to one server, resuming the last session (RFC 8446 section 2.2). */
export class TlsConnector {
  private readonly host: string;
  private readonly alpn: readonly string[];
  private readonly ca: string[] | undefined;
  private session: Buffer | undefined;

  /** `host`: the name or address that the certificate must have; `extraCa`: PEM, also trusted. */
  constructor(host: string, alpn: readonly string[], extraCa: readonly string[]) {
    this.host = host;
    this.alpn = alpn;
    this.ca = extraCa.length === 0 ? undefined : [...nodeTls().getCACertificates('default'), ...extraCa];
  }

  /**
   * Opens a connection, which is still connecting when `open` returns. Certificate faults are reported as errors of the
   * socket.
   */
  open(server: ServerAddress, onread?: OnReadOpts): TLSSocket {
    const socket = nodeTls().connect({
      host: server.ip,
      port: server.port,
      minVersion: 'TLSv1.2',
      ...(onread === undefined ? {} : { onread }),
      // Without a server name the certificate is checked against the address.
      ...(isIP(this.host) === 0 ? { servername: this.host } : {}),
      ...(this.alpn.length === 0 ? {} : { ALPNProtocols: [...this.alpn] }),
      ...(this.ca === undefined ? {} : { ca: this.ca }),
      ...(this.session === undefined ? {} : { session: this.session }),
    });
    socket.setNoDelay(true);
    socket.on('session', (session) => {
      this.session = session;
    });
    // A session that the server rejects must not be used again.
    socket.on('error', () => {
      this.session = undefined;
    });
    return socket;
  }
}

/** DNS over TLS (RFC 7858, strict: RFC 8310). */
export function dotStream(host: string, extraCa: readonly string[]): StreamKind {
  const connector = new TlsConnector(host, [], extraCa);
  return {
    open: (server, onread) => connector.open(server, onread),
    padTo: PADDING_BLOCK,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
  };
}
