/** The background task that removes expired sessions and lockouts. */
import { reasonOf } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/log.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';

/** Sessions expire by time; this task only keeps the tables small. */
const INTERVAL_MS = 10 * 60_000;

/** Target of the sweep. */
interface Sweepable {
  removeExpired(): Promise<void>;
}

/** Sweeps every `intervalMs`; call the result to stop and to wait for a running sweep. */
export function startExpiredSessionSweep(
  auth: Sweepable,
  logger: Logger,
  intervalMs = INTERVAL_MS,
): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    running = sweep(auth, logger).finally(() => (isRunning = false));
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

async function sweep(auth: Sweepable, logger: Logger): Promise<void> {
  try {
    await auth.removeExpired();
  } catch (error) {
    // Without a database nothing can be removed; the next sweep removes everything.
    if (error instanceof DatabaseUnavailable) return;
    logger.error('could not remove expired sessions', {
      error: reasonOf(error),
    });
  }
}
