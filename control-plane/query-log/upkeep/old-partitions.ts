/** SQL of the log of earlier versions: `query_log`, one row for each query, one partition for each day in UTC. */
import type { Database, LentClient, Queryable } from '../../db/database.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import type { OldRow } from './old-rows.ts';

/** A span of time in a day's partition, microseconds since 1970, end exclusive. */
export interface OldSpan {
  /** Since 1970-01-01 in UTC. */
  readonly day: number;
  readonly fromUs: number;
  readonly toUs: number;
}

const WITHIN = `"timestamp" >= 'epoch'::timestamptz + $1::bigint * interval '1 microsecond'
  AND "timestamp" < 'epoch'::timestamptz + $2::bigint * interval '1 microsecond'`;
/** The only index is a coarse one, which the planner does not ask without statistics. */
const USE_INDEX = 'SET LOCAL enable_seqscan = off';

/** Days that have a partition, newest first. */
export async function listOldDays(tx: Queryable): Promise<number[]> {
  const { rows } = await tx.query<{ name: string }>(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent = to_regclass('query_log') ORDER BY relname DESC`,
  );
  return rows.flatMap(({ name }) => {
    const parts = /^query_log_(\d{4})(\d\d)(\d\d)$/.exec(name);
    return parts === null
      ? []
      : [Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])) / DAY_MS];
  });
}

/** Number of rows in a span. */
export async function countOldRows(tx: Queryable, { day, fromUs, toUs }: OldSpan): Promise<number> {
  await tx.query(USE_INDEX);
  const { rows } = await tx.query<{ total: number }>(
    `SELECT count(*) AS total FROM ${oldPartition(day)} WHERE ${WITHIN}`,
    [fromUs, toUs],
  );
  return rows[0]!.total;
}

/** Takes the oldest rows of a span out of the table, at most `limit`, in the order of their time. */
export async function takeOldRows(
  client: LentClient,
  { day, fromUs, toUs }: OldSpan,
  limit: number,
): Promise<OldRow[]> {
  await client.query(USE_INDEX);
  const { rows } = await client.query<OldRow & { id: number }>(
    `DELETE FROM ${oldPartition(day)} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${oldPartition(day)} WHERE ${WITHIN} ORDER BY "timestamp", id LIMIT $3))
     RETURNING id, (extract(epoch FROM "timestamp") * 1000000)::bigint AS timestamp_us, node_id, group_id,
       response_time_us, type, rcode, status, protocol, dnssec, cached, host(client) AS client, domain, block_source,
       block_rule, upstream, answers`,
    [fromUs, toUs, limit],
  );
  return rows.sort((a, b) => a.timestamp_us - b.timestamp_us || a.id - b.id);
}

/** Drops the partition of a day if no row is left in it. */
export async function dropEmptyOldDay(database: Database, day: number): Promise<void> {
  await database.transactionAsOwner(async (tx) => {
    // Others that want the table would queue behind this statement. Retried next time.
    await tx.query(`SET LOCAL lock_timeout = '2s'`);
    await tx.query(`LOCK TABLE ${oldPartition(day)} IN ACCESS EXCLUSIVE MODE`);
    const { rows } = await tx.query(`SELECT 1 FROM ${oldPartition(day)} LIMIT 1`);
    if (rows.length === 0) await tx.query(`DROP TABLE ${oldPartition(day)}`);
  });
}

/** Empties what is of use to `query_log` only. */
export async function forgetOldBatches(database: Database): Promise<void> {
  await database.transactionAsOwner(async (tx) => {
    const { rows } = await tx.query<{ name: string | null }>(
      `SELECT to_regclass('query_log_batches') AS name`,
    );
    if (rows[0]!.name !== null) await tx.query('TRUNCATE query_log_batches');
  });
}

function oldPartition(day: number): string {
  return `query_log_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}
