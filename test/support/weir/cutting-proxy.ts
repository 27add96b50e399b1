/** A proxy in front of PostgreSQL that cuts or stalls the connection when it forwards a COMMIT or a change. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { asOwner } from '../parts/as-owner.ts';
import { within } from '../parts/until.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';

/**
 * Point of the cut. `before`: before the server receives the COMMIT. `after`: after the commit, before the client
 * receives the answer. `write`: before the first change of a row. `hang`: at the same point as `write`, but all
 * connections stall instead.
 */
export type Cut = 'before' | 'after' | 'write' | 'hang';

const COMMIT = 'COMMIT\0';
const WRITE = /\b(?:INSERT INTO|UPDATE|DELETE FROM)\b/;

/** The proxy, which forwards everything until a cut is requested. */
export class CuttingProxy {
  readonly port: number;
  private readonly server: Server;
  private readonly sockets: Set<Socket>;
  private next: Cut | null = null;
  private isHung = false;
  private readonly hanging = Promise.withResolvers<undefined>();

  private constructor(server: Server, sockets: Set<Socket>) {
    this.server = server;
    this.sockets = sockets;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Listens in front of the server behind `database`. */
  static async open(database: Database): Promise<CuttingProxy> {
    const { rows } = await asOwner<{ folder: string; port: string }>(
      database,
      `SELECT current_setting('unix_socket_directories') AS folder, current_setting('port') AS port`,
    );
    const path = `${rows[0]!.folder}/.s.PGSQL.${rows[0]!.port}`;
    const server = createServer((client) => proxy.join(client, connect(path))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new CuttingProxy(server, new Set());
    return proxy;
  }

  /** Makes the proxy cut once, at the next COMMIT or change. */
  cutNext(cut: Cut): void {
    this.next = cut;
  }

  /** Resolves when the proxy has stalled. */
  hung(): Promise<undefined> {
    return within('a change to pass through the proxy', this.hanging.promise);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private hang(): void {
    this.isHung = true;
    this.hanging.resolve(undefined);
  }

  /** The requested cut if it must happen at these bytes; null if not. */
  private cutAt(bytes: Buffer): Cut | null {
    const cut = this.next;
    if (cut === null) return null;
    const isAtWrite = cut === 'write' || cut === 'hang';
    if (isAtWrite ? !WRITE.test(bytes.toString('latin1')) : !bytes.includes(COMMIT)) return null;
    this.next = null;
    return cut;
  }

  private join(client: Socket, server: Socket): void {
    let isCommitting = false;
    const cutBoth = (): void => {
      for (const socket of [client, server]) socket.destroy();
    };
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', cutBoth).on('close', () => {
        this.sockets.delete(socket);
        cutBoth();
      });
    }
    client.on('data', (bytes: Buffer) => {
      const cut = this.cutAt(bytes);
      if (cut === 'hang') this.hang();
      if (this.isHung) return;
      if (cut === 'before' || cut === 'write') return cutBoth();
      isCommitting = cut === 'after';
      server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      if (isCommitting) cutBoth();
      else if (!this.isHung) client.write(bytes);
    });
  }
}
