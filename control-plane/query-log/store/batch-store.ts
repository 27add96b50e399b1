/** Stores batches of log rows by COPY, each once, however often it is sent. */
import { finished } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Database } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { COPY_COLUMNS } from './copy-encoder.ts';
import type { LogBatch } from './log-batch.ts';
import { ensurePartitions, partitionOf } from './partition-store.ts';

/** How a batch is stored. */
export interface BatchDurability {
  /**
   * True: the commit waits for the disk, for rows whose only other copy is about to be removed. False: a
   * server that is killed within the next 0.6 s may lose the batch.
   */
  readonly durable: boolean;
}

/** SQLSTATE of a partition that does not exist: named directly, or looked for by COPY. */
const MISSING_PARTITION: ReadonlySet<unknown> = new Set(['42P01', '23514']);

/**
 * Stores one batch in one transaction, or finds that it is stored already.
 * @throws {DatabaseUnavailable} when the outcome is unknown; sending it again is safe. Anything else means
 * that these rows cannot be stored.
 */
export async function storeBatch(database: Database, batch: LogBatch, how: BatchDurability): Promise<void> {
  try {
    await copyBatch(database, batch, how);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && MISSING_PARTITION.has(error.code))) throw error;
    await ensurePartitions(database, batch.days);
    await copyBatch(database, batch, how);
  }
}

async function copyBatch(
  database: Database,
  { id, days, bytes }: LogBatch,
  { durable }: BatchDurability,
): Promise<void> {
  // Naming the partition saves the search for it, row by row.
  const [onlyDay] = days.length === 1 ? days : [];
  const table = onlyDay === undefined ? 'query_log' : partitionOf(onlyDay);
  await database.withClient((client) =>
    inTransaction(
      client,
      async () => {
        const noted = await client.query(
          'INSERT INTO query_log_batches (id) VALUES ($1) ON CONFLICT DO NOTHING',
          [id],
        );
        if (noted.rowCount !== 1) return;
        const copy = client.query(copyFrom(`COPY ${table} (${COPY_COLUMNS}) FROM STDIN (FORMAT binary)`));
        copy.end(bytes);
        await finished(copy);
      },
      `BEGIN; SET LOCAL synchronous_commit = ${durable ? 'on' : 'off'}`,
    ),
  );
}

/** Removes the ids of batches that cannot be sent again: stored before any that may still wait on a node's disk. */
export async function forgetOldBatches(database: Database, before: Date): Promise<void> {
  await database.query('DELETE FROM query_log_batches WHERE applied_at < $1', [before]);
}
