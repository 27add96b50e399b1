/**
 * Days of the query log as partitions of its table: made before they are needed, dropped when they are too old.
 * Creating and attaching are two steps, so that neither waits for readers or writers.
 */
import type { Database, Queryable } from '../../db/database.ts';
import { DAY_MS } from './copy-encoder.ts';

/** Key of the advisory lock that serialises partition changes of all nodes. */
const LOCK_KEY = 0x77_65_69_72;

/** Name of the partition of a day; days count from 1970-01-01 in UTC. */
export function partitionOf(day: number): string {
  return `query_log_${dateOf(day).replaceAll('-', '')}`;
}

/** Makes the partitions of the given days where they are missing. */
export async function ensurePartitions(database: Database, days: readonly number[]): Promise<void> {
  const existing = new Set(await listPartitions(database));
  for (const day of days) {
    if (existing.has(day)) continue;
    await database.transaction(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock($1)`, [LOCK_KEY]);
      const { rows } = await tx.query(`SELECT 1 WHERE to_regclass($1) IS NOT NULL`, [partitionOf(day)]);
      if (rows.length > 0) return;
      // Rows are only added, and the day is dropped whole: vacuuming it would be wasted.
      await tx.query(
        `CREATE TABLE ${partitionOf(day)} (LIKE query_log INCLUDING ALL) WITH (autovacuum_enabled = false)`,
      );
      await tx.query(
        `ALTER TABLE query_log ATTACH PARTITION ${partitionOf(day)}
         FOR VALUES FROM ('${dateOf(day)} 00:00:00+00') TO ('${dateOf(day + 1)} 00:00:00+00')`,
      );
    });
  }
}

/** Days that have a partition, oldest first. */
export async function listPartitions(database: Queryable): Promise<number[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent = 'query_log'::regclass ORDER BY relname`,
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

/** Drops days. */
export async function dropPartitions(database: Database, days: readonly number[]): Promise<void> {
  for (const day of days) {
    await database.transaction(async (tx) => {
      // A long export may hold the table, and others would queue behind this statement. Retried next time.
      await tx.query(`SET LOCAL lock_timeout = '2s'`);
      await tx.query(`SELECT pg_advisory_xact_lock($1)`, [LOCK_KEY]);
      await tx.query(`DROP TABLE IF EXISTS ${partitionOf(day)}`);
    });
  }
}

/** Adds the pages that were filled since the last call to the index on time of a day. */
export async function summarizePartition(database: Database, day: number): Promise<void> {
  await database.background('upkeep').maintain(
    `SELECT brin_summarize_new_values(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = to_regclass($1) AND relam = (SELECT oid FROM pg_am WHERE amname = 'brin')`,
    [partitionOf(day)],
  );
}

/** Updates the planner's statistics of a day: without it, it sorts where it should hash and reads all for an hour. */
export async function analyzePartition(database: Database, day: number): Promise<void> {
  await database.background('upkeep').maintain(`ANALYZE ${partitionOf(day)}`);
}

function dayOfPartition(name: string): number {
  const parts = /^query_log_(\d{4})(\d\d)(\d\d)$/.exec(name);
  if (parts === null) return NaN;
  return Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])) / DAY_MS;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
