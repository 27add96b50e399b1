/** The stored query log for tests: stores rows and reads all of them. */
import { asOwner } from './as-owner.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import type { QueryLogRow } from '../../../control-plane/query-log/rows/row.ts';
import { LogMemory } from '../../../control-plane/query-log/search/log-memory.ts';
import type { LogSource } from '../../../control-plane/query-log/reading/log-source.ts';
import { readQueryLog } from '../../../control-plane/query-log/reading/query-log-store.ts';
import { exportQueries } from '../../../control-plane/query-log/reading/log-export.ts';
import {
  type LogQuestions,
  logQuestions,
} from '../../../control-plane/query-log/log-search/log-questions.ts';
import type { Scans } from '../../../control-plane/query-log/log-search/log-scans.ts';
import { answerQuestion } from '../../../control-plane/query-log/log-search/questions.ts';
import { BlockGatherer, toBatch } from '../../../control-plane/query-log/store/block-gatherer.ts';
import { PartGatherers } from '../../../control-plane/query-log/store/part-gatherers.ts';
import { storeBlock } from '../../../control-plane/query-log/store/block-store.ts';
import type { LogBatch } from '../../../control-plane/query-log/store/log-batch.ts';
import { Exclusion } from '../../../shared/query-log.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { MemoryLogger } from './memory-logger.ts';

/**
 * Rows encoded as blocks: a single block, or one block per hour in order. Rows that the log or the statistics leave out
 * go to separate blocks.
 */
export async function batchesOf(
  rows: readonly QueryLogRow[],
  gatherer = new BlockGatherer(),
): Promise<LogBatch[]> {
  const parts = new PartGatherers(undefined, gatherer.runKey);
  const sealed = rows.map((row) => {
    if (row.exclusion === Exclusion.BOTH) return null;
    return (row.exclusion === Exclusion.NONE ? gatherer : parts).append(row, 'full');
  });
  const blocks = [...sealed, gatherer.seal(), ...parts.seal()].filter((block) => block !== null);
  return Promise.all(blocks.map((block) => toBatch(block.runKey, block)));
}

/** Stores rows for a node. */
export async function storeRows(database: Database, rows: readonly QueryLogRow[], nodeId = 1): Promise<void> {
  for (const batch of await batchesOf(rows)) await storeBlock(database, batch, { nodeId, durable: true });
}

/** The log that queries read from; damaged blocks are logged in `logger` as errors. */
export function logSourceOf(database: Database, logger = new MemoryLogger()): LogSource {
  const memory = new LogMemory();
  return {
    read: (work) => {
      memory.beginQuestion();
      return database.background().read((tx) => work({ ...tx, memory }));
    },
    onDamaged: (block, reason) => logger.error('damaged', { block, reason }),
  };
}

/** Searches of the stored log, run in the calling thread. */
export function questionsOf(
  database: Database,
  hostnameOf: (address: string, clientId: number | null) => string | null = () => null,
  log = logSourceOf(database),
): LogQuestions {
  const scans: Scans = {
    ask: (name, argument) => answerQuestion(log, { name, argument }, () => Promise.resolve()),
    rows: (selection) => exportQueries(log, selection),
  };
  return logQuestions({ scans, database, flush: () => Promise.resolve(), hostnameOf });
}

/** Every stored row, newest first. */
export async function storedRows(database: Database): Promise<LoggedQuery[]> {
  const page = await readQueryLog(logSourceOf(database), { limit: 1_000_000, offset: 0 });
  return page.data;
}

/** Deletes all stored rows. */
export async function emptyLog(database: Database): Promise<void> {
  await asOwner(database, 'TRUNCATE query_blocks, query_runs, query_counts, query_names, query_log_clears');
}
