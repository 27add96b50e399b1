/**
 * Runs work on the whole query log, which may read millions of rows. Such work has its own connections, so that it
 * never delays a policy change. Only few operations run at a time, and the embedded server runs them at a lower
 * priority than the log writer.
 */
import type { PoolClient } from 'pg';
import type { Logger } from '../../../shared/log.ts';
import {
  DatabaseBusy,
  DatabaseUnavailable,
  isBusy,
  isPoolTimeout,
  isStalePlan,
  isStatementTimeout,
  isUnavailable,
} from './database-errors.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { copyOut } from './copy/copy-out.ts';
import type { DatabaseTarget } from './database-target.ts';
import { OpenPool } from './open-pool.ts';
import { lowerSession, NICENESS } from './postgres/process-priority.ts';
import type { CopyQueryable, Queryable } from './queryable.ts';
import { StatementNames } from './statement-names.ts';
import { inTransaction } from './transaction.ts';

/** Limits on the time and concurrency of background work. */
export interface BackgroundLimits {
  /** Maximum milliseconds that work waits for a free connection. */
  readonly waitMs: number;
  /** Time limit of a statement, milliseconds. */
  readonly runMs: number;
  /** Maximum number of concurrent operations; each has its own connection. */
  readonly places: number;
  /**
   * Whether statements with values are planned once per connection, for any values. By default, PostgreSQL may plan a
   * statement each time, as it does for partitioned tables; for a frequent statement, planning takes longer than
   * running it.
   */
  readonly keepsPlans: boolean;
}

const DEFAULT_LIMITS: BackgroundLimits = { waitMs: 20_000, runMs: 60_000, places: 1, keepsPlans: false };
const BEGIN_READING = 'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY';

/** A queue of background work. */
export class BackgroundWork {
  private readonly pool: OpenPool;
  private readonly limits: BackgroundLimits;
  private readonly names = new StatementNames();

  constructor(target: DatabaseTarget, logger: Logger, limits: Partial<BackgroundLimits> = {}) {
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    const { places, waitMs } = this.limits;
    const config = { ...target.config, max: places, connectionTimeoutMillis: waitMs };
    this.pool = new OpenPool(config, {
      connected: (client) => {
        if (target.isOurs) lowerSession(client, NICENESS.behindLog, logger, target.firstPriority);
      },
      // A lost connection only affects its own work. A lost server is detected by the liveness check.
      lost: () => undefined,
    });
  }

  /**
   * Runs `work` in a read-only transaction with one consistent view. @throws {DatabaseUnavailable} as DatabaseBusy if
   * no connection was free in time, or a statement took too long
   */
  async read<T>(work: (tx: CopyQueryable) => Promise<T>): Promise<T> {
    return this.run((client) => inReading(client, this.names.runOn(client), this.limits, work));
  }

  /**
   * Runs `work` in a transaction that may write; an error in `work` rolls the transaction back. Conflicts are thrown,
   * not retried.
   * @throws {DatabaseUnavailable} as `read()`, and as OutcomeUnknown if the connection was lost at the commit
   */
  async change<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.run(async (client) => {
      await this.limit(client);
      return inTransaction(client, () => work(client));
    });
  }

  /** Waits for running work to finish. */
  end(): Promise<void> {
    return this.pool.end();
  }

  /** See `OpenPool.cut`. */
  cut(): void {
    this.pool.cut();
  }

  private async run<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    try {
      client = await this.pool.connect();
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      const isBroken =
        isUnavailable(error) || isStatementTimeout(error) || isBusy(error) || isStalePlan(error);
      client?.release(isBroken); // Closing the connection also ends a running statement.
      throw this.explain(error);
    }
  }

  private async limit(client: PoolClient): Promise<void> {
    await client.query(`SET statement_timeout = ${this.limits.runMs}`);
  }

  private explain(error: unknown): unknown {
    const { waitMs, runMs } = this.limits;
    if (isStatementTimeout(error))
      return new DatabaseBusy(`no answer from the query log within ${runMs / 1000} s; try a shorter period`);
    if (isPoolTimeout(error))
      return new DatabaseBusy(
        `the query log has been busy with other requests for more than ${waitMs / 1000} s`,
      );
    if (!isUnavailable(error)) return error;
    return new DatabaseUnavailable(`could not use the query log: ${reasonOf(error)}`, { cause: error });
  }
}

/** Like `inTransaction`, but read-only, so the outcome is known even if the connection is lost at the COMMIT. */
async function inReading<T>(
  client: PoolClient,
  named: Queryable,
  { runMs, keepsPlans }: BackgroundLimits,
  work: (tx: CopyQueryable) => Promise<T>,
): Promise<T> {
  const plans = keepsPlans ? '; SET LOCAL plan_cache_mode = force_generic_plan' : '';
  await client.query(`${BEGIN_READING}; SET LOCAL statement_timeout = ${runMs}${plans}`);
  try {
    const inOrder = serialRunner();
    const result = await work({
      query: (text, values) => inOrder(() => named.query(text, values)),
      copyOut: (query) => inOrder(() => copyOut(client, query)),
    });
    await client.query('COMMIT');
    return result;
  } catch (error) {
    if (!isUnavailable(error) && !isBusy(error)) await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * Returns a function that runs statements one after another, because a future version of pg will reject concurrent
 * statements on one connection.
 */
function serialRunner(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const next = last.then(run, run);
    last = next.catch(() => undefined);
    return next;
  };
}
