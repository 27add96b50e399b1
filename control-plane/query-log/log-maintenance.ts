/**
 * Housekeeping of the query log's table, which the server's own vacuum leaves alone: partitions are there
 * before midnight, old days go, the index on time and the planner know what was added. Every node does it; doing it twice does no harm.
 */
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { Database } from '../db/database.ts';
import { DatabaseUnavailable, reasonOf } from '../db/database-errors.ts';
import { forgetOldBatches } from './batch-store.ts';
import { DAY_MS } from './copy-encoder.ts';
import {
  analyzePartition,
  dropPartitionsBefore,
  ensurePartitions,
  summarizePartition,
} from './partition-store.ts';

/** What housekeeping needs. */
export interface LogMaintenanceOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `database.query_log_days`; asked each time. */
  readonly queryLogDays: () => number;
}

/** Milliseconds between two looks at the index, which then costs next to nothing. */
const INDEX_EVERY_MS = 60_000;
/** Looks at the index between two looks at the days and their statistics. */
const LOOKS_PER_DAYS_CHECK = 10;
/** Days that have their partition before they come. */
const DAYS_AHEAD = 2;
/** Days for which a batch that waits on a node's disk is recognized. */
const BATCH_MEMORY_DAYS = 60;

/** Starts housekeeping, at once if the database is up, else when it comes; returns how to stop it. */
export function startLogMaintenance(options: LogMaintenanceOptions): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let looks = 0;
  const run = (checkDays: boolean): void => {
    if (options.database.status().state !== 'up') return;
    running = running.then(() => attempt(options, checkDays));
  };
  const timer = setInterval(() => run(++looks % LOOKS_PER_DAYS_CHECK === 0), INDEX_EVERY_MS);
  timer.unref();
  const stopListening = options.database.onStatus(({ state }) => {
    if (state === 'up') run(true);
  });
  run(true);
  return async () => {
    clearInterval(timer);
    stopListening();
    await running;
  };
}

async function attempt(options: LogMaintenanceOptions, checkDays: boolean): Promise<void> {
  try {
    if (checkDays) await keepDays(options);
    const today = Math.floor(options.clock.nowMs() / DAY_MS);
    for (const day of [today - 1, today]) await summarizePartition(options.database, day);
    if (checkDays) await analyzePartition(options.database, today);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return; // Said where it was noticed, and it comes back.
    options.logger.warn('keep the query log in order: tried again later', { reason: reasonOf(error) });
  }
}

/** Makes the partitions of the next days and drops those that are older than the log is kept. */
export async function keepDays({
  database,
  clock,
  logger,
  queryLogDays,
}: LogMaintenanceOptions): Promise<void> {
  const today = Math.floor(clock.nowMs() / DAY_MS);
  const ahead = Array.from({ length: DAYS_AHEAD + 1 }, (_, i) => today + i);
  await ensurePartitions(database, ahead);
  const dropped = await dropPartitionsBefore(database, today - queryLogDays() + 1);
  if (dropped.length > 0) logger.info('drop old days of the query log', { days: dropped.length });
  await forgetOldBatches(database, BATCH_MEMORY_DAYS);
}
