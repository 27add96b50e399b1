/**
 * Days of the query log as partitions of its table: they are created before they are needed and dropped when they are
 * too old. A partition is first created and then attached in a separate step, so that neither step waits for readers or
 * writers.
 */
import type { Database, Queryable } from '../../storage/db/database.ts';
import { dateOf } from './block-day.ts';
import { DAY_MS } from './block-gatherer.ts';

/** Key of the advisory lock that serialises partition changes of all nodes. */
export const LOCK_KEY = 0x77_65_69_72;

/** Name of the partition of a day; days count from 1970-01-01 in UTC. */
export function partitionOf(day: number): string {
  return `query_blocks_${dateOf(day).replaceAll('-', '')}`;
}

/** Creates the missing partitions of the given days. */
export async function ensurePartitions(database: Database, days: readonly number[]): Promise<void> {
  const existing = new Set(await listPartitions(database));
  for (const day of days) {
    if (existing.has(day)) continue;
    await database.transactionAsOwner(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock($1)`, [LOCK_KEY]);
      const { rows } = await tx.query(`SELECT 1 WHERE to_regclass($1) IS NOT NULL`, [partitionOf(day)]);
      if (rows.length > 0) return;
      await tx.query(`CREATE TABLE ${partitionOf(day)} (LIKE query_blocks INCLUDING ALL)`);
      await tx.query(
        `ALTER TABLE query_blocks ATTACH PARTITION ${partitionOf(day)}
         FOR VALUES FROM ('${dateOf(day)}') TO ('${dateOf(day + 1)}')`,
      );
    });
  }
}

/** Days that have a partition, oldest first. */
export async function listPartitions(database: Queryable): Promise<number[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent = 'query_blocks'::regclass ORDER BY relname`,
  );
  return rows.map(({ name }) => dayOfPartition(name)).filter((day) => !Number.isNaN(day));
}

/** Days that have rows, oldest first. */
export async function listFilledPartitions(database: Queryable): Promise<number[]> {
  const days = await listPartitions(database);
  if (days.length === 0) return [];
  const each = days.map((day) => `SELECT ${day} AS day WHERE EXISTS (SELECT FROM ${partitionOf(day)})`);
  const { rows } = await database.query<{ day: number }>(each.join(' UNION ALL '));
  return rows.map(({ day }) => day).sort((a, b) => a - b);
}

/** Drops the partitions of days. The top lists of the days and of their months are kept. */
export async function dropPartitions(database: Database, days: readonly number[]): Promise<void> {
  for (const day of days) {
    await database.transactionAsOwner(async (tx) => {
      // A long export may lock the table, and other statements would queue behind this one. With the timeout, this
      // statement fails and is retried later.
      await tx.query(`SET LOCAL lock_timeout = '2s'`);
      await tx.query(`SELECT pg_advisory_xact_lock($1)`, [LOCK_KEY]);
      // Top lists are locked before the table, in the same order as when blocks are added to lists, to avoid a
      // deadlock.
      const span = [new Date(day * DAY_MS), new Date((day + 1) * DAY_MS)];
      await tx.query(`DELETE FROM query_names WHERE grain = 'h' AND start >= $1 AND start < $2`, span);
      await tx.query(
        `UPDATE query_names SET is_alone = true WHERE grain = 'd' AND start >= $1 AND start < $2`,
        span,
      );
      await tx.query(`DROP TABLE IF EXISTS ${partitionOf(day)}`);
    });
  }
}

function dayOfPartition(name: string): number {
  const parts = /^query_blocks_(\d{4})(\d\d)(\d\d)$/.exec(name);
  if (parts === null) return NaN;
  return Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])) / DAY_MS;
}
