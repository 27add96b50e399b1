/** A DNS server over TCP, TLS or HTTPS on loopback. Its script receives each question with its connection. */
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { FrameReader, frame } from '../../../shared/dns/framing.ts';
import type { UpstreamSettings } from '../../../shared/policy/upstream-settings.ts';
import { within } from '../parts/until.ts';
import type { TestCertificate } from './certificates.ts';

/** Number of the connection, from 1. */
export interface StreamPeer {
  /** Questions received on the connection so far. */
  questions: number;
  /** Closes the connection gracefully (FIN). */
  end(): void;
  /** Closes the connection immediately; over TCP with RST. */
  reset(): void;
}

/** A received question. */
export interface StreamQuestion {
  readonly bytes: Uint8Array;
  readonly peer: StreamPeer;
  readonly reply: (message: Uint8Array) => void;
}

/** Handler of a question. */
export type StreamScript = (question: StreamQuestion) => void;

/** A running server. */
export class StreamServer {
  readonly peers: StreamPeer[] = [];
  readonly questions: StreamQuestion[] = [];
  readonly settings: UpstreamSettings;
  script: StreamScript;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(server: Server, transport: UpstreamSettings['transport'], script: StreamScript) {
    this.server = server;
    this.script = script;
    const { port } = server.address() as AddressInfo;
    const address = `${transport}://127.0.0.1:${String(port)}`;
    this.settings = { address, transport, host: '127.0.0.1', port };
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
    });
  }

  /** Listens on a port that the system chooses. TCP needs no certificate. */
  static async start(
    transport: 'tcp' | 'tls' | 'https',
    certificate: Pick<TestCertificate, 'cert' | 'key'> | null,
    script: StreamScript,
  ): Promise<StreamServer> {
    const { cert, key } = certificate ?? {};
    const server =
      transport === 'tcp'
        ? createTcpServer({ noDelay: true })
        : transport === 'tls'
          ? createTlsServer({ cert, key })
          : createSecureServer({ cert, key });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const made = new StreamServer(server, transport, script);
    if (transport === 'tcp') server.on('connection', (socket: Socket) => made.readFrames(socket));
    if (transport === 'tls') server.on('secureConnection', (socket: Socket) => made.readFrames(socket));
    if (transport === 'https')
      server.on('session', (session: ServerHttp2Session) => made.readStreams(session));
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await within('the server to close', new Promise((done) => this.server.close(done)));
  }

  private readFrames(socket: Socket): void {
    const peer = this.add(
      () => socket.end(),
      () => (socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy()),
    );
    socket.on('error', () => undefined);
    const frames = new FrameReader((message) => {
      this.take(message.slice(), peer, (reply) => void socket.write(frame(reply)));
      return true;
    });
    socket.on('data', (chunk: Buffer) => frames.push(chunk));
  }

  private readStreams(session: ServerHttp2Session): void {
    const { remotePort } = session.socket;
    const socket = [...this.sockets].find((one) => one.remotePort === remotePort)!;
    const peer = this.add(
      () => session.close(),
      // Not `session.destroy()`, which would first reset the streams one by one.
      () => socket.resetAndDestroy(),
    );
    session.on('error', () => undefined);
    session.on('stream', (stream: ServerHttp2Stream) => {
      const chunks: Buffer[] = [];
      stream.on('error', () => undefined);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        this.take(Buffer.concat(chunks), peer, (reply) => {
          if (stream.destroyed || stream.headersSent) return;
          stream.respond({ ':status': 200, 'content-type': 'application/dns-message' });
          stream.end(reply);
        });
      });
    });
  }

  private add(end: () => void, reset: () => void): StreamPeer {
    const peer = { questions: 0, end, reset };
    this.peers.push(peer);
    return peer;
  }

  private take(bytes: Uint8Array, peer: StreamPeer, reply: (message: Uint8Array) => void): void {
    peer.questions++;
    const question = { bytes, peer, reply };
    this.questions.push(question);
    this.script(question);
  }
}
