/**
 * Leases for jobs that one node does for all nodes. A lease records which node has a job and until when, only by the
 * clock of the database, and a token that differs from those of all earlier holders. A node that was suspended for
 * longer than its lease cannot know that it lost the job, so a job stores its results in a transaction that confirms
 * the token. Session locks are not used instead, because they would be lost behind a connection pooler, and would not
 * expire if the holder hangs.
 */
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { Queryable } from '../db/database.ts';

export interface LeaseParts {
  readonly database: Queryable;
  readonly logger: Logger;
  /**
   * UUID of the node (`nodeUuid`): a process that starts with the same data directory takes over the jobs of the
   * previous process immediately.
   */
  readonly node: string;
  /** Milliseconds between two renewals. */
  readonly renewMs?: number;
}

/** The right to do a job. */
export interface Lease {
  /** Aborted when another node is known to have the job. */
  readonly signal: AbortSignal;
  /**
   * Holds the lease until the end of the transaction; the results of the job may only be stored in a transaction that
   * calls this. It may be called anywhere in the transaction. @throws {LeaseLost}
   */
  confirm(tx: Queryable): Promise<void>;
}

/** Error: another node has taken over the job. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Seconds for which a lease is valid without renewal. */
const LEASE_SECS = 15;
const RENEW_MS = 5000;
const LENGTH = `interval '${LEASE_SECS} seconds'`;

/**
 * A lease whose end is more than its duration in the future was written before the clock was set back, and is ignored.
 */
const TAKE = `INSERT INTO leases AS held (job, node, token, until)
  VALUES ($1, $2, nextval('lease_tokens'), clock_timestamp() + ${LENGTH})
  ON CONFLICT (job) DO UPDATE SET node = excluded.node, token = excluded.token, until = clock_timestamp() + ${LENGTH}
  WHERE held.node = excluded.node OR held.until NOT BETWEEN clock_timestamp() AND clock_timestamp() + ${LENGTH}
  RETURNING token`;
const RENEW = `UPDATE leases SET until = clock_timestamp() + ${LENGTH} WHERE job = $1 AND token = $2`;
const CONFIRM = 'SELECT 1 FROM leases WHERE job = $1 AND token = $2 AND until > clock_timestamp() FOR SHARE';
const RELEASE = 'DELETE FROM leases WHERE job = $1 AND token = $2';

/** The leases of a node. */
export class JobLeases {
  private readonly parts: LeaseParts;
  /**
   * Jobs that this process is doing. They must not be started again, although the database would grant the same node a
   * second lease.
   */
  private readonly atWork = new Set<string>();

  constructor(parts: LeaseParts) {
    this.parts = parts;
  }

  /**
   * Runs `work` while this node has the job. Returns false if another node has it, or took it over because this node
   * was suspended. Throws what `work` or the database throws.
   */
  async hold(job: string, work: (lease: Lease) => Promise<unknown>): Promise<boolean> {
    if (this.atWork.has(job)) return false;
    this.atWork.add(job);
    try {
      const token = await this.acquire(job);
      if (token === null) return false;
      return await this.workUnder({ job, token }, work);
    } finally {
      this.atWork.delete(job);
    }
  }

  private async acquire(job: string): Promise<number | null> {
    const { database, node } = this.parts;
    const { rows } = await database.query<{ token: number }>(TAKE, [job, node]);
    return rows[0]?.token ?? null;
  }

  private async workUnder(
    { job, token }: { readonly job: string; readonly token: number },
    work: (lease: Lease) => Promise<unknown>,
  ): Promise<boolean> {
    const { database, logger, renewMs = RENEW_MS } = this.parts;
    const lost = new AbortController();
    const timer = setInterval(() => {
      database.query(RENEW, [job, token]).then(
        ({ rowCount }) => {
          if (rowCount === 0) lost.abort(lostLease(job));
        },
        // Only logged: if the lease is lost, the transaction that stores the results fails.
        (error: unknown) => logger.debug('could not renew a lease', { job, reason: reasonOf(error) }),
      );
    }, renewMs);
    timer.unref();
    try {
      await work({
        signal: lost.signal,
        confirm: async (tx) => {
          const { rows } = await tx.query(CONFIRM, [job, token]);
          if (rows.length === 0) throw lostLease(job);
        },
      });
      return true;
    } catch (error) {
      if (!(error instanceof LeaseLost) && !lost.signal.aborted) throw error;
      logger.warn('another node has taken over a job of this node', { job });
      return false;
    } finally {
      clearInterval(timer);
      await database.query(RELEASE, [job, token]).catch((error: unknown) => {
        logger.debug('could not release a lease; it expires by itself', { job, reason: reasonOf(error) });
      });
    }
  }
}

function lostLease(job: string): LeaseLost {
  return new LeaseLost(`${job}: another node has taken over`);
}
