/**
 * Housekeeping of the query log: makes partitions before midnight, drops old days and counts. Every node does it;
 * repetition is harmless.
 */
import { DatabaseUnavailable } from '../../db/database-errors.ts';
import { reasonOf } from '../../../shared/thrown.ts';
import { CountsDays, type CountsDaysOptions } from './counts-days.ts';
import { LogDays, type LogDaysOptions } from './log-days.ts';

/** What it takes. */
export interface LogMaintenanceOptions extends LogDaysOptions, CountsDaysOptions {}

/** Milliseconds between two looks at the days. */
const DAYS_EVERY_MS = 600_000;

/** Starts housekeeping, at once if the database is up, else when it comes; returns how to stop it. */
export function startLogMaintenance(options: LogMaintenanceOptions): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const days = new LogDays(options);
  const counts = new CountsDays(options);
  const run = (): void => {
    if (options.database.status().state !== 'up') return;
    running = running.then(() => attempt(options, days, counts));
  };
  const timer = setInterval(run, DAYS_EVERY_MS);
  timer.unref();
  const stopListening = options.database.onStatus(({ state }) => {
    if (state === 'up') run();
  });
  run();
  return async () => {
    clearInterval(timer);
    stopListening();
    await running;
  };
}

async function attempt({ logger }: LogMaintenanceOptions, days: LogDays, counts: CountsDays): Promise<void> {
  try {
    await days.keep();
    await counts.keep();
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return; // Logged elsewhere; the database comes back.
    logger.warn('maintain the query log failed: retried later', { reason: reasonOf(error) });
  }
}
