/**
 * Housekeeping of the query log's table, which the server's vacuum skips: creates partitions before midnight, drops old
 * days, and updates the index on time and the planner's statistics. Every node does it; repetition is harmless.
 */
import { DatabaseUnavailable } from '../../db/database-errors.ts';
import { reasonOf } from '../../../shared/thrown.ts';
import { LogDays } from './log-days.ts';
import type { LogDaysOptions } from './log-days.ts';
import { analyzePartition, summarizePartition } from './partition-store.ts';

/** Milliseconds between two updates of the index, which then cost next to nothing. */
const INDEX_EVERY_MS = 60_000;
/** Updates of the index per update of the days and their statistics. */
const LOOKS_PER_DAYS_CHECK = 10;

/** Starts housekeeping, at once if the database is up, else when it comes; returns how to stop it. */
export function startLogMaintenance(options: LogDaysOptions): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let looks = 0;
  const days = new LogDays(options);
  const run = (checkDays: boolean): void => {
    if (options.database.status().state !== 'up') return;
    running = running.then(() => attempt(options, days, checkDays));
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

async function attempt(
  { database, logger }: LogDaysOptions,
  days: LogDays,
  checkDays: boolean,
): Promise<void> {
  try {
    if (checkDays) await days.keep();
    const today = await days.today();
    for (const day of [today - 1, today]) await summarizePartition(database, day);
    if (checkDays) await analyzePartition(database, today);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return; // Logged elsewhere; the database comes back.
    logger.warn('maintain the query log failed: retried later', { reason: reasonOf(error) });
  }
}
