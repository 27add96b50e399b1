/**
 * All connections to one server, from connecting until the server is lost. Each kind of work has its own connections,
 * so that no kind blocks another. Ordinary statements share a pool. Policy changes share one connection, because a lock
 * lets only one of them run at a time anyway. Schema changes have a connection that is only open while they run. Work
 * on the whole log uses `background-work.ts`, and the liveness check `liveness.ts`. If the pool is exhausted, the
 * database is busy, not down.
 */
import type pg from 'pg';
import type { PoolClient } from 'pg';
import type { Logger } from '../../../shared/log.ts';
import { BackgroundWork } from './background-work.ts';
import {
  ConnectionRefused,
  DatabaseBusy,
  DatabaseUnavailable,
  isBusy,
  isConnectionLost,
  isStalePlan,
  isUnavailable,
} from './database-errors.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { DatabaseTarget } from './database-target.ts';
import { Liveness, POLL_MS } from './liveness.ts';
import type { NoticeListeners } from './notice-listeners.ts';
import { logIn, OpenPool } from './open-pool.ts';
import { lowerSession, NICENESS } from './postgres/process-priority.ts';

export interface ConnectionOptions {
  readonly target: DatabaseTarget;
  /**
   * Identity of the tables, see `askTables`; the server counts as lost if they change. Null = the tables are not
   * checked.
   */
  readonly tables?: string | null;
  readonly logger: Logger;
  readonly notices: NoticeListeners;
  /** Maximum number of connections of the pool for ordinary statements. */
  readonly poolSize: number;
  /** Maximum milliseconds that a statement waits for a connection, and a change for earlier changes on any node. */
  readonly waitMs: number;
}

/**
 * Multiple of `waitMs` after which an idle transaction is ended; a transaction that blocks changes is ended after one
 * `waitMs`.
 */
const SILENT_WAITS = 3;
/** Message for users. */
const BUSY = 'the database is busy with other work; try again in a moment';

/** The connections of one server. Closed permanently once the server is lost. */
export class Connections {
  /** Queue for maintenance. API requests have their own connections in a separate thread. */
  readonly background: BackgroundWork;
  readonly target: DatabaseTarget;
  private readonly pool: OpenPool;
  private readonly changes: OpenPool;
  private readonly owner: OpenPool;
  private readonly liveness: Liveness;
  private readonly logger: Logger;
  private readonly lost = new AbortController();
  /** Reason why no connection could be opened; null if the last attempt was successful. */
  private refused: ConnectionRefused | null = null;
  /** `performance.now()` at the last retry. */
  private triedMs = 0;
  private readonly cutOff = Promise.withResolvers<undefined>();

  constructor({ target, tables = null, logger, notices, poolSize, waitMs }: ConnectionOptions) {
    this.target = target;
    this.logger = logger;
    this.pool = this.open({
      max: poolSize,
      connectionTimeoutMillis: waitMs,
      // A node that has failed must not keep rows locked, such as rows of its query log.
      idle_in_transaction_session_timeout: SILENT_WAITS * waitMs,
    });
    this.changes = this.open({
      max: 1,
      connectionTimeoutMillis: waitMs,
      lock_timeout: waitMs,
      // A node that is suspended in the middle of a change must not block changes by other nodes.
      idle_in_transaction_session_timeout: waitMs,
    });
    // The connection of the owner is closed after ten idle seconds.
    this.owner = this.open({
      ...target.owner?.config,
      max: 1,
      connectionTimeoutMillis: waitMs,
      idle_in_transaction_session_timeout: SILENT_WAITS * waitMs,
    });
    this.liveness = new Liveness({
      target,
      tables,
      logger,
      notices,
      opened: (client) => this.lower(client),
      lost: (reason) => this.lose(reason),
      notify: (...notice) => this.use((client) => client.query('SELECT pg_notify($1, $2)', notice)),
    });
    this.background = new BackgroundWork(target, logger);
  }

  isLost(): boolean {
    return this.lost.signal.aborted;
  }

  /**
   * Reason why new connections cannot be opened although open connections work; null = as far as known, connections can
   * be opened.
   */
  refusal(): ConnectionRefused | null {
    return this.refused;
  }

  /** Subscribes to the notifications of a channel, or unsubscribes. */
  listen(channel: string, isWanted?: boolean): void {
    this.liveness.listen(channel, isWanted);
  }

  /** Treats the server as lost for a reason that was found elsewhere. */
  lose(reason?: unknown): void {
    this.lost.abort(reason);
  }

  /** Lends a connection. @throws {DatabaseUnavailable} as DatabaseBusy if the server is alive but overloaded */
  use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.lend(this.pool, work);
  }

  /** Lends the connection for operations that take turns. @throws as `use()` */
  useInTurn<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.lend(this.changes, work);
  }

  /** Lends the connection of the role that owns the tables. @throws as `use()` */
  useAsOwner<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.lend(this.owner, work);
  }

  /** Checks the server periodically; resolves with a reason when the server is lost or `stopping` is aborted. */
  async untilLost(stopping: AbortSignal): Promise<unknown> {
    const ended = AbortSignal.any([this.lost.signal, stopping]);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    ended.addEventListener('abort', () => resolve(undefined), { once: true });
    if (ended.aborted) return this.lost.signal.reason;
    // Not awaited, because a statement may detect the loss of the server earlier than this check.
    const check = async (): Promise<void> => {
      await this.giveUpUnlessAnswering(POLL_MS);
      await this.tryOpening();
    };
    this.liveness.keepChecking(ended, check).catch((error: unknown) => this.lose(error));
    await promise;
    return this.lost.signal.reason;
  }

  /** Closes idle connections immediately, and waits for lent connections unless `cut()` is called. */
  async end(): Promise<void> {
    const all = Promise.all([
      this.pool.end(),
      this.changes.end(),
      this.owner.end(),
      this.background.end(),
      this.liveness.end(),
    ]);
    await Promise.race([all, this.cutOff.promise]);
  }

  /** Gives up a server that does not respond within `withinMs`; pending calls are rejected. */
  async giveUpUnlessAnswering(withinMs: number): Promise<void> {
    try {
      await this.liveness.check(withinMs);
    } catch (error) {
      this.lose(error);
      this.cut();
    }
  }

  /** Closes every connection immediately, even if a statement is in progress. */
  cut(): void {
    for (const pool of [this.pool, this.changes, this.owner, this.background]) pool.cut();
    this.cutOff.resolve(undefined);
  }

  private async lend<T>(pool: OpenPool, work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    let isBroken = false;
    try {
      client = await pool.connect();
      return await work(client);
    } catch (error) {
      if (isBusy(error)) {
        isBroken = true; // The connection may still be running an abandoned statement.
        throw new DatabaseBusy(BUSY, { cause: error });
      }
      if (error instanceof ConnectionRefused) this.refused = error;
      isBroken = isStalePlan(error);
      if (!isUnavailable(error)) throw error;
      isBroken = isConnectionLost(error);
      if (isBroken) this.lose(error);
      throw error instanceof DatabaseUnavailable
        ? error
        : new DatabaseUnavailable(`could not use the database: ${reasonOf(error)}`, { cause: error });
    } finally {
      client?.release(isBroken);
    }
  }

  private open(config: pg.PoolConfig): OpenPool {
    return new OpenPool(
      { ...this.target.config, ...config },
      {
        connected: (client) => {
          this.refused = null;
          this.lower(client);
        },
        lost: (error) => this.lose(error),
      },
    );
  }

  /**
   * After a connection was refused, checks every few seconds whether one can be opened, because an idle node may not
   * open any itself.
   */
  private async tryOpening(): Promise<void> {
    if (this.refused === null || performance.now() < this.triedMs + POLL_MS) return;
    this.triedMs = performance.now();
    try {
      await logIn(this.target.config);
      this.refused = null;
    } catch (error) {
      const cause = error instanceof DatabaseUnavailable ? error.cause : error;
      if (this.refused !== null) this.refused = new ConnectionRefused(reasonOf(cause), { cause });
    }
  }

  private lower(client: pg.ClientBase): void {
    if (this.target.isOurs) lowerSession(client, NICENESS.behindDns, this.logger);
  }
}
