/** A client of DNS over TLS without retries. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { FrameReader, frame } from '../../../shared/dns/framing.ts';
import { within } from '../parts/until.ts';
import { query, Reply } from './dns-message.ts';
import type { QueryOptions, TypeSpec } from './dns-message.ts';

/** One connection. The certificate is not verified unless the options require it. */
export class DotClient {
  readonly socket: TLSSocket;
  private readonly received: Uint8Array[] = [];
  private readonly frames = new FrameReader((message) => {
    this.received.push(message.slice());
    return true;
  });

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.frames.push(chunk));
    socket.on('error', () => undefined);
    // Each pending query adds a listener for the end of the connection, so the default limit is too low.
    socket.setMaxListeners(0);
  }

  /** Rejects if the handshake fails. `underneath` is an existing connection to run TLS over. */
  static async open(port: number, options: ConnectionOptions = {}, underneath?: Socket): Promise<DotClient> {
    const to = underneath === undefined ? { port, host: '127.0.0.1' } : { socket: underneath };
    const socket = connect({ ...to, rejectUnauthorized: false, ALPNProtocols: ['dot'], ...options });
    await within('a TLS handshake', once(socket, 'secureConnect'));
    return new DotClient(socket);
  }

  /** Sends a query and waits for the next reply; rejects if the connection ends. */
  async ask(name: string, type: TypeSpec, options: QueryOptions = {}): Promise<Reply> {
    this.socket.write(frame(query(name, type, options)));
    while (this.received.length === 0) {
      if (this.socket.destroyed) throw new Error('ask over TLS: the connection was closed');
      const heard = Promise.race([once(this.socket, 'data'), once(this.socket, 'close')]);
      await within(`the answer over TLS to ${name}`, heard);
    }
    return new Reply(this.received.shift()!, '');
  }

  /** SHA-256 of the server's certificate. */
  get fingerprint(): string {
    return this.socket.getPeerCertificate().fingerprint256;
  }

  close(): void {
    this.socket.destroy();
  }
}
