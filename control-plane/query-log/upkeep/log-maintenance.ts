/**
 * Maintenance of the query log: creates partitions before midnight, drops old days and counts, merges small blocks, and
 * adds blocks to the top lists. Each node merges its own blocks and adds them to the lists; only one node at a time
 * does the other work.
 */
import type { JobLeases } from '../../storage/cluster/leases.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { DayExport } from '../parquet-export/day-export.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { BlocksOf } from './changed-concurrently.ts';
import { CountsDays, type CountsDaysOptions } from './counts-days.ts';
import { LogDays, type LogDaysOptions } from './log-days.ts';
import { MergeUpkeep, type MergeUpkeepOptions } from './merge-upkeep.ts';
import { NameFolding } from './name-folding.ts';

export interface LogMaintenanceOptions extends LogDaysOptions, CountsDaysOptions, MergeUpkeepOptions {
  readonly jobs: Pick<JobLeases, 'hold'>;
  readonly dayExport: Pick<DayExport, 'turn'>;
}

/** Milliseconds between two checks. */
const DAYS_EVERY_MS = 600_000;
const MERGE_EVERY_MS = 180_000;
/** Milliseconds until a retry if the database was up, but a statement failed. */
const RETRY_MS = 10_000;

/** Starts the maintenance as soon as the database is available; returns a function that stops the maintenance. */
export function startLogMaintenance(options: LogMaintenanceOptions): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { jobs } = options;
  const folding = new NameFolding(options);
  const days = new LogDays({ ...options, beforeDrop: (day) => folding.foldDay(day, signal) });
  const counts = new CountsDays(options);
  const merging = new MergeUpkeep(options);
  const keepDays = async (): Promise<void> => {
    await days.keep();
    await counts.keep();
  };
  const compact = async (whose: BlocksOf): Promise<void> => {
    await merging.turn(whose, signal);
    await folding.turn(whose, signal);
  };
  const repeated = [
    repeat(options, DAYS_EVERY_MS, () => jobs.hold('create and delete days of the query log', keepDays)),
    repeat(options, DAYS_EVERY_MS, () => options.dayExport.turn(signal)),
    repeat(options, MERGE_EVERY_MS, async () => {
      if (!(await jobs.hold('compact the query log of ended runs', () => compact('own-and-ended'))))
        await compact('own');
    }),
  ];
  return async () => {
    stopping.abort();
    await Promise.all(repeated.map((stop) => stop()));
  };
}

/**
 * Runs `work` immediately, periodically, and when the database becomes available, but never twice at the same time.
 * Returns a function that stops these runs.
 */
function repeat(
  { database, logger }: LogMaintenanceOptions,
  everyMs: number,
  work: () => Promise<unknown>,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  const attempt = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // A lost database is logged elsewhere. The work is retried after a time, because a statement may also fail
      // without a change of the database status that would start the work again.
      if (error instanceof DatabaseUnavailable) retry = setTimeout(run, RETRY_MS).unref();
      else logger.warn('query log maintenance failed; retrying later', { reason: reasonOf(error) });
    } finally {
      running = undefined;
    }
  };
  const run = (): void => {
    if (database.status().state === 'up') running ??= attempt();
  };
  const timer = setInterval(run, everyMs);
  timer.unref();
  const stopListening = database.onStatus(({ state }) => {
    if (state === 'up') run();
  });
  run();
  return async () => {
    clearInterval(timer);
    stopListening();
    await running;
    clearTimeout(retry);
  };
}
