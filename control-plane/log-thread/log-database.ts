/**
 * The database, as used by the log thread: a connection to the same server that the control plane uses. The control
 * plane reports the address of the server, and whether the database is available. It also detects if the server is
 * lost; in this thread, only queries on the connection fail.
 */
import { reasonOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import type { BlockDatabase } from '../query-log/store/block-store.ts';
import type { DatabaseStatus, LentClient } from '../storage/db/database.ts';
import {
  DatabaseBusy,
  DatabaseUnavailable,
  isBusy,
  isStalePlan,
  isUnavailable,
} from '../storage/db/database-errors.ts';
import { fromSentTarget, type SentTarget } from '../storage/db/database-target.ts';
import { OpenPool } from '../storage/db/open-pool.ts';
import { lowerSession, NICENESS } from '../storage/db/postgres/process-priority.ts';
import type { GivenDatabase } from './log-messages.ts';

/** The name of the connection in `pg_stat_activity`. */
const CONNECTION_NAME = 'weir log';
/** Time limit in milliseconds for opening the connection, and for idle transactions. */
const CONNECT_MS = 5000;
const SILENT_MS = 15_000;

/** The database in the log thread. One per thread. */
export class LogDatabase implements BlockDatabase {
  readonly makeDays: BlockDatabase['makeDays'];
  private readonly logger: Logger;
  private readonly listeners = new Set<(status: DatabaseStatus) => void>();
  private given: GivenDatabase;
  private pool: OpenPool | undefined;
  /** The server to which the pool connects, as JSON. */
  private server = '';

  constructor(given: GivenDatabase, logger: Logger, makeDays: BlockDatabase['makeDays']) {
    this.given = given;
    this.logger = logger;
    this.makeDays = makeDays;
    this.connect(given.target);
  }

  status(): DatabaseStatus {
    return this.given.status;
  }

  onStatus(listener: (status: DatabaseStatus) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Applies a new state or address of the database. */
  use(given: GivenDatabase): void {
    this.given = given;
    this.connect(given.target);
    for (const listener of this.listeners) listener(given.status);
  }

  async withClient<T>(work: (client: LentClient) => Promise<T>): Promise<T> {
    if (this.pool === undefined)
      throw new DatabaseUnavailable(this.given.status.error ?? 'database is starting');
    let client: LentClient | undefined;
    let isBroken = false;
    try {
      client = await this.pool.connect();
      return await work(client);
    } catch (error) {
      isBroken = isUnavailable(error) || isBusy(error) || isStalePlan(error);
      if (error instanceof DatabaseUnavailable) throw error;
      if (isBusy(error))
        throw new DatabaseBusy('could not store the query log: the database is busy', { cause: error });
      if (!isUnavailable(error)) throw error;
      throw new DatabaseUnavailable(`could not store the query log: ${reasonOf(error)}`, { cause: error });
    } finally {
      client?.release(isBroken);
    }
  }

  /** Closes the connection; a running query fails. */
  close(): void {
    this.connect(null);
  }

  private connect(target: SentTarget | null): void {
    const server = target === null ? '' : JSON.stringify(target);
    if (server === this.server) return;
    this.server = server;
    void this.pool?.end();
    this.pool?.cut();
    this.pool = target === null ? undefined : this.open(target);
  }

  private open(target: SentTarget): OpenPool {
    const { config, isOurs } = fromSentTarget(target);
    return new OpenPool(
      {
        ...config,
        application_name: CONNECTION_NAME,
        max: 1,
        connectionTimeoutMillis: CONNECT_MS,
        idle_in_transaction_session_timeout: SILENT_MS,
      },
      {
        connected: (client) => {
          if (isOurs) lowerSession(client, NICENESS.behindDns, this.logger);
        },
        lost: () => undefined,
      },
    );
  }
}
