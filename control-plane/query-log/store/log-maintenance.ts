/**
 * Housekeeping of the query log's table, which the server's own vacuum leaves alone: partitions are there
 * before midnight, old days go, the index on time and the planner know what was added. Every node does it; doing it twice does no harm.
 */
import { DatabaseUnavailable } from '../../db/database-errors.ts';
import { reasonOf } from '../../../shared/thrown.ts';
import { LogDays } from './log-days.ts';
import type { LogDaysOptions } from './log-days.ts';
import { analyzePartition, summarizePartition } from './partition-store.ts';

/** Milliseconds between two looks at the index, which then costs next to nothing. */
const INDEX_EVERY_MS = 60_000;
/** Looks at the index between two looks at the days and their statistics. */
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
    if (error instanceof DatabaseUnavailable) return; // Said where it was noticed, and it comes back.
    logger.warn('keep the query log in order: tried again later', { reason: reasonOf(error) });
  }
}
