/**
 * A pg pool that can be cut off, so that every pending call on it rejects immediately; and the initialization of its
 * connections.
 */
import pg from 'pg';
import type { ClientConfig, PoolClient, PoolConfig } from 'pg';
import {
  ConnectionRefused,
  DatabaseUnavailable,
  isBusy,
  isConnectionLost,
  isUnavailable,
} from './database-errors.ts';
import { codeOf, reasonOf } from '../../../shared/errors.ts';
import { AccessFault } from './access/server-access.ts';

/** Called for each new connection, and when one is lost. */
export interface PoolListener {
  readonly connected: (client: PoolClient) => void;
  readonly lost: (error: Error) => void;
}

/**
 * After 10 s of silence the server probes the node, and ends the session 15 s later. Unix sockets ignore these
 * settings.
 */
const KEEPALIVE_SETTINGS = `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
  SET tcp_user_timeout = 25000`;

/**
 * Seconds after which a connection is replaced: its server process keeps the memory of its largest statement, 10 MiB
 * after a flood.
 */
const RENEWED_AFTER_SECS = 300;

/**
 * Makes the server end a session soon after its connection was cut without notice to either side, such as by a firewall
 * that dropped its state. Without this, the session and its locks would stay for hours. A server that does not support
 * this is used anyway.
 */
export async function enableKeepalive(client: pg.ClientBase): Promise<void> {
  await client.query(KEEPALIVE_SETTINGS).catch(() => undefined);
}

/** A pool whose pending calls reject with `DatabaseUnavailable` once it is cut off. */
export class OpenPool {
  private readonly pool: pg.Pool;
  private readonly clients = new Set<pg.ClientBase>();
  /**
   * Callbacks that end each wait for a connection. A promise shared by all waits would retain them as long as it is
   * pending.
   */
  private readonly waits = new Set<(reason: DatabaseUnavailable) => void>();
  private cutOff: DatabaseUnavailable | undefined;

  constructor(config: PoolConfig, { connected, lost }: PoolListener) {
    // The pool awaits this function, although its type does not say so.
    const onConnect: (client: pg.ClientBase) => unknown = async (client) => {
      this.clients.add(client);
      // A borrowed connection also emits its error, which would end the process if unhandled.
      client.on('error', lost);
      client.once('end', () => this.clients.delete(client));
      await enableKeepalive(client);
    };
    this.pool = new pg.Pool({ maxLifetimeSeconds: RENEWED_AFTER_SECS, ...config, onConnect });
    this.pool.on('error', lost);
    this.pool.on('connect', connected);
  }

  /**
   * Lends a connection; the borrower releases it. @throws {ConnectionRefused} if the server can be reached but does not
   * open one
   */
  async connect(): Promise<PoolClient> {
    if (this.cutOff !== undefined) throw this.cutOff;
    const { promise, resolve, reject } = Promise.withResolvers<PoolClient>();
    this.waits.add(reject);
    this.pool.connect().then(
      (lent) => {
        if (this.waits.delete(reject)) resolve(lent);
        else lent.release(true); // The caller has given up in the meantime.
      },
      (error: unknown) => {
        this.waits.delete(reject);
        reject(asRefusal(error));
      },
    );
    return promise;
  }

  /** Closes idle connections immediately and waits for borrowed ones. */
  end(): Promise<void> {
    return this.pool.end();
  }

  /** Ends every connection, including statements in flight. */
  cut(): void {
    this.cutOff ??= new DatabaseUnavailable('closed the database connection: no response');
    for (const giveUp of this.waits) giveUp(this.cutOff);
    this.waits.clear();
    // With a statement in flight this closes the socket, and the statement fails.
    for (const client of this.clients)
      void (client as pg.ClientBase & { end(): Promise<void> }).end().catch(() => undefined);
  }
}

/**
 * Converts an error from opening a connection to a ConnectionRefused, for example one about a certificate, a limit or a
 * missing certificate file. Errors of a server that cannot be reached or is overloaded are returned unchanged.
 */
export function asRefusal(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable || isBusy(error)) return error;
  // A password that is wrong or cannot be read does not affect the open connections.
  const isOfPassword = error instanceof AccessFault || (error instanceof Error && /^28/.test(codeOf(error)));
  if (!isOfPassword && isUnavailable(error) && isConnectionLost(error)) return error;
  return new ConnectionRefused(`cannot open a connection: ${reasonOf(error)}`, { cause: error });
}

/** @throws {DatabaseUnavailable} if the role for queries cannot connect */
export async function logIn(config: ClientConfig): Promise<void> {
  let client: pg.Client | undefined;
  try {
    client = new pg.Client(config); // Reads the certificate files.
    client.on('error', () => undefined); // If the connection is lost, connecting fails.
    await client.connect();
  } catch (error) {
    throw new DatabaseUnavailable(`cannot connect with the role of database.url: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    await client?.end().catch(() => undefined); // The connection is no longer needed or has failed.
  }
}
