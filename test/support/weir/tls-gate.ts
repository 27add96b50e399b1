/** A port in front of PostgreSQL with TLS and a certificate that the test chooses. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Length of PostgreSQL's SSLRequest message, with which a client requests TLS. */
const REQUEST_BYTES = 8;

/** A gate, which exists until it is disposed of. */
export class TlsGate implements AsyncDisposable {
  /** URL of the gate, in the form of `database.url` without TLS parameters. */
  readonly url: string;
  /** Certificate of future connections. */
  certificate: { readonly cert: string; readonly key: string };
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(server: Server, behind: URL, certificate: TlsGate['certificate']) {
    this.server = server;
    this.certificate = certificate;
    const url = new URL(behind);
    url.search = '';
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.toString();
    const path = `${behind.searchParams.get('host')!}/.s.PGSQL.${behind.port || '5432'}`;
    server.on('connection', (client) => void this.join(client, path).catch(() => client.destroy()));
  }

  /** Listens in front of the server that listens on the Unix socket in this URL. */
  static async open(url: string, certificate: TlsGate['certificate']): Promise<TlsGate> {
    const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TlsGate(server, new URL(url), certificate);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async join(client: Socket, path: string): Promise<void> {
    this.keep(client);
    client.resume();
    const [request] = (await once(client, 'data')) as [Buffer];
    if (request.length !== REQUEST_BYTES) throw new Error('expected a request for TLS');
    client.pause();
    client.write('S');
    const secured = this.keep(new TLSSocket(client, { isServer: true, ...this.certificate }));
    const server = this.keep(connect(path));
    secured.pipe(server).pipe(secured);
  }

  private keep<Kind extends Socket>(socket: Kind): Kind {
    this.sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => this.sockets.delete(socket));
  }
}
