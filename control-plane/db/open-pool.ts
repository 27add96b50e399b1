/** A pg pool that can be cut off: every pending call on it rejects at once. */
import pg from 'pg';
import type { PoolClient, PoolConfig } from 'pg';
import { DatabaseUnavailable } from './database-errors.ts';

/** Called for each new connection, and when one is lost. */
export interface PoolListener {
  readonly connected: (client: PoolClient) => void;
  readonly lost: (error: Error) => void;
}

/** A pool whose pending calls reject with `DatabaseUnavailable` once it is cut off. */
export class OpenPool {
  private readonly pool: pg.Pool;
  private readonly clients = new Set<PoolClient>();
  private readonly cutOff = Promise.withResolvers<never>();

  constructor(config: PoolConfig, { connected, lost }: PoolListener) {
    this.cutOff.promise.catch(() => undefined); // Callers get the rejection; there may be none.
    this.pool = new pg.Pool(config);
    this.pool.on('error', lost);
    this.pool.on('connect', (client) => {
      this.clients.add(client);
      // A lent connection emits its error, too, which would end the process if unhandled.
      client.on('error', lost);
      client.once('end', () => this.clients.delete(client));
      connected(client);
    });
  }

  /** Lends a connection; the borrower releases it. */
  async connect(): Promise<PoolClient> {
    let isTooLate = false;
    const client = this.pool.connect();
    client.then(
      (lent) => {
        if (isTooLate) lent.release(true);
      },
      () => undefined, // Reported by the race, or no longer relevant.
    );
    try {
      return await Promise.race([client, this.cutOff.promise]);
    } catch (error) {
      isTooLate = true;
      throw error;
    }
  }

  /** Closes idle connections at once and waits for lent ones. */
  end(): Promise<void> {
    return this.pool.end();
  }

  /** Ends every connection, statements in flight included. */
  cut(): void {
    this.cutOff.reject(new DatabaseUnavailable('database was given up: it does not answer'));
    // With a statement in flight this closes the socket, and the statement fails.
    for (const client of this.clients) void (client as PoolClient & pg.Client).end().catch(() => undefined);
  }
}
