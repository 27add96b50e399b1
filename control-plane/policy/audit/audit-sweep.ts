/** The background task that deletes old entries of the audit log. */
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { ClockWatch } from '../../host/clock/clock-watch.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { deleteOldAudit } from './audit-log-store.ts';

const INTERVAL_MS = 3_600_000;

/** Dependencies of the sweep. */
export interface AuditSweepParts {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `database.audit_days`; called for each sweep, because a reload may change the value. */
  readonly keptDays: () => number;
}

/** Runs a sweep each hour; returns a function that stops the sweeps and waits for a running one. */
export function startAuditSweep(parts: AuditSweepParts, intervalMs = INTERVAL_MS): () => Promise<void> {
  const watch = new ClockWatch(parts.clock);
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    // No sweep while the clock may be wrong, because all entries could then look old.
    if (!watch.isSettled()) return;
    running ??= sweepAudit(parts).finally(() => (running = undefined));
  }, intervalMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Deletes old entries; never rejects. */
export async function sweepAudit({ database, logger, keptDays }: AuditSweepParts): Promise<void> {
  try {
    const removed = await deleteOldAudit(database, keptDays());
    if (removed > 0) logger.debug('deleted old entries of the audit log', { entries: removed });
  } catch (error) {
    // Without a database, the next sweep deletes the entries.
    if (error instanceof DatabaseUnavailable) return;
    logger.error('could not delete old entries of the audit log', { error: reasonOf(error) });
  }
}
