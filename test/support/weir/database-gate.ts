/**
 * A port in front of PostgreSQL that forwards all connections, refuses them, or does not respond, like a faulty
 * network.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** State of existing and new connections. */
export type GateState = 'open' | 'refusing' | 'silent';

/** A gate, which is initially open and exists until it is disposed of. */
export class DatabaseGate implements AsyncDisposable {
  /** URL of the gate, in the form of `database.url`. */
  readonly url: string;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private state: GateState = 'open';

  private constructor(server: Server, behind: URL) {
    this.server = server;
    const url = new URL(behind);
    url.search = '';
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.toString();
    const path = `${behind.searchParams.get('host')!}/.s.PGSQL.${behind.port}`;
    server.on('connection', (client) => this.join(client, path));
  }

  /** Listens in front of the server that listens on the Unix socket in this URL. */
  static async open(url: string): Promise<DatabaseGate> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new DatabaseGate(server, new URL(url));
  }

  /** Sets the state. When a gate opens again, it closes connections that were stalled. */
  set(state: GateState): void {
    this.state = state;
    if (state !== 'silent') for (const socket of this.sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.set('refusing');
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket, path: string): void {
    if (this.state === 'refusing') return void client.destroy();
    const server = connect(path);
    const pair = [client, server] as const;
    for (const [from, to] of [pair, pair.toReversed() as unknown as typeof pair]) {
      this.sockets.add(from);
      from.on('data', (bytes) => this.state === 'silent' || to.write(bytes));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        if (this.state !== 'silent') to.destroy();
      });
    }
  }
}
