/**
 * A pg pool that can be closed immediately, so that every pending call is rejected; also initializes its connections.
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

/** Callbacks for each new connection and each lost connection. */
export interface PoolListener {
  readonly connected: (client: PoolClient) => void;
  readonly lost: (error: Error) => void;
}

/**
 * After 10 s without data, the server probes the node, and ends the session if there is no response within 15 s. Unix
 * sockets ignore these settings.
 */
const KEEPALIVE_SETTINGS = `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
  SET tcp_user_timeout = 25000`;

/**
 * Seconds after which a connection is replaced: its server process keeps the memory that its largest statement needed,
 * which is 10 MiB after a flood.
 */
const RENEWED_AFTER_SECS = 300;

/**
 * Makes the server end a session soon after its connection was interrupted without notice, for example by a firewall
 * that lost its state. Without keepalive, the session and its locks would remain for hours. A server that does not
 * support these settings is used nevertheless.
 */
export async function enableKeepalive(client: pg.ClientBase): Promise<void> {
  await client.query(KEEPALIVE_SETTINGS).catch(() => undefined);
}

/** A pool whose pending calls are rejected with `DatabaseUnavailable` when `cut()` is called. */
export class OpenPool {
  private readonly pool: pg.Pool;
  private readonly clients = new Set<pg.ClientBase>();
  /**
   * Callbacks that reject the waits for a connection. A promise that all waits share would keep each of them in memory
   * for as long as the promise is pending.
   */
  private readonly waits = new Set<(reason: DatabaseUnavailable) => void>();
  private cutOff: DatabaseUnavailable | undefined;

  constructor(config: PoolConfig, { connected, lost }: PoolListener) {
    // The pool awaits this function, although its type does not say so.
    const onConnect: (client: pg.ClientBase) => unknown = async (client) => {
      this.clients.add(client);
      // A borrowed connection also emits its errors, and an unhandled error event would end the process.
      client.on('error', lost);
      client.once('end', () => this.clients.delete(client));
      await enableKeepalive(client);
    };
    this.pool = new pg.Pool({ maxLifetimeSeconds: RENEWED_AFTER_SECS, ...config, onConnect });
    this.pool.on('error', lost);
    this.pool.on('connect', connected);
  }

  /**
   * Lends a connection; the caller must release it. @throws {ConnectionRefused} if the server can be reached, but a
   * connection cannot be opened
   */
  async connect(): Promise<PoolClient> {
    if (this.cutOff !== undefined) throw this.cutOff;
    const { promise, resolve, reject } = Promise.withResolvers<PoolClient>();
    this.waits.add(reject);
    this.pool.connect().then(
      (lent) => {
        if (this.waits.delete(reject)) resolve(lent);
        else lent.release(true); // The wait was already rejected.
      },
      (error: unknown) => {
        this.waits.delete(reject);
        reject(asRefusal(error));
      },
    );
    return promise;
  }

  /** Closes idle connections immediately, and waits for borrowed connections. */
  end(): Promise<void> {
    return this.pool.end();
  }

  /** Closes every connection immediately, even if a statement is in progress. */
  cut(): void {
    this.cutOff ??= new DatabaseUnavailable('closed the database connection: no response');
    for (const giveUp of this.waits) giveUp(this.cutOff);
    this.waits.clear();
    // If a statement is in progress, `end()` closes the socket, and the statement fails.
    for (const client of this.clients)
      void (client as pg.ClientBase & { end(): Promise<void> }).end().catch(() => undefined);
  }
}

/**
 * Converts an error from opening a connection, for example about a certificate, a limit or a missing file, to a
 * ConnectionRefused. Errors of a server that cannot be reached or is overloaded are returned unchanged.
 */
export function asRefusal(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable || isBusy(error)) return error;
  // A password that is wrong or cannot be read does not affect the open connections.
  const isOfPassword = error instanceof AccessFault || (error instanceof Error && /^28/.test(codeOf(error)));
  if (!isOfPassword && isUnavailable(error) && isConnectionLost(error)) return error;
  return new ConnectionRefused(`could not open a connection: ${reasonOf(error)}`, { cause: error });
}

/** Tests a connection of the role for queries. @throws {DatabaseUnavailable} if the role cannot connect */
export async function logIn(config: ClientConfig): Promise<void> {
  let client: pg.Client | undefined;
  try {
    client = new pg.Client(config); // The constructor reads the certificate files.
    client.on('error', () => undefined); // If the connection is lost, connecting fails.
    await client.connect();
  } catch (error) {
    throw new DatabaseUnavailable(`could not connect with the role of database.url: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    await client?.end().catch(() => undefined); // The connection is no longer needed or has failed.
  }
}
