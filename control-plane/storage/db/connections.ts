/**
 * All connections to one server, from connecting until the server is lost. Each kind of work has its own connections,
 * so that none blocks another: ordinary statements share a pool; policy changes share one connection, because their
 * lock lets only one run at a time anyway; schema changes have one that is only open while they run; work on the whole
 * log has `background-work.ts`, the liveness check `liveness.ts`. An exhausted pool means that the database is busy,
 * not down.
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
  /** The server counts as lost if its tables differ from these, see `askTables`; null = any tables. */
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
/** Text for users. */
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
  /** Reason why no connection could be opened, since the last successful attempt. */
  private refused: ConnectionRefused | null = null;
  /** Time of the last retry, by `performance.now()`. */
  private triedMs = 0;
  private readonly cutOff = Promise.withResolvers<undefined>();

  constructor({ target, tables = null, logger, notices, poolSize, waitMs }: ConnectionOptions) {
    this.target = target;
    this.logger = logger;
    this.pool = this.open({
      max: poolSize,
      connectionTimeoutMillis: waitMs,
      // A node that has failed must not keep rows locked, such as those of its query log.
      idle_in_transaction_session_timeout: SILENT_WAITS * waitMs,
    });
    this.changes = this.open({
      max: 1,
      connectionTimeoutMillis: waitMs,
      lock_timeout: waitMs,
      // A node that is suspended in the middle of a change must not block changes by others.
      idle_in_transaction_session_timeout: waitMs,
    });
    // The owner's connection is closed after ten idle seconds.
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

  /** Reason why new connections cannot be opened while the open ones work; null = they can, as far as known. */
  refusal(): ConnectionRefused | null {
    return this.refused;
  }

  /** Subscribes to the notifications of a channel, or unsubscribes. */
  listen(channel: string, isWanted?: boolean): void {
    this.liveness.listen(channel, isWanted);
  }

  /** Declares the server lost for an external reason. */
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

  /** Checks the server periodically; resolves with the reason when it is lost, or when `stopping` is aborted. */
  async untilLost(stopping: AbortSignal): Promise<unknown> {
    const ended = AbortSignal.any([this.lost.signal, stopping]);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    ended.addEventListener('abort', () => resolve(undefined), { once: true });
    if (ended.aborted) return this.lost.signal.reason;
    // Not awaited: a statement may find that the server is lost before this connection is open or has its answer.
    const check = async (): Promise<void> => {
      await this.giveUpUnlessAnswering(POLL_MS);
      await this.tryOpening();
    };
    this.liveness.keepChecking(ended, check).catch((error: unknown) => this.lose(error));
    await promise;
    return this.lost.signal.reason;
  }

  /** Closes idle connections immediately and waits for lent ones, unless it is cut off. */
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

  /** Gives up a server that does not respond within `withinMs`; pending calls reject. */
  async giveUpUnlessAnswering(withinMs: number): Promise<void> {
    try {
      await this.liveness.check(withinMs);
    } catch (error) {
      this.lose(error);
      this.cut();
    }
  }

  /** Ends every connection, including statements in flight. */
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
        : new DatabaseUnavailable(`use database: ${reasonOf(error)}`, { cause: error });
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

  /** After a refusal, checks every few seconds whether a connection can be opened: an idle node may not open any. */
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
