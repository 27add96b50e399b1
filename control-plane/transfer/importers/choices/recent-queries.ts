/** The queries of the last days by name, as far as the top lists contain them. */
import type { Clock } from '../../../../shared/clock.ts';
import { reasonOf } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/log.ts';
import type { LogQuestions } from '../../../query-log/log-search/log-questions.ts';
import type { QueriesByName } from './differences.ts';

const DAY_MS = 86_400_000;
const DAYS = 7;
/** Maximum number of names of each kind; other names are rarely queried. */
const MAX_NAMES = 10_000;
/** Time limit in milliseconds: the user is waiting for the preview. */
const LIMIT_MS = 5000;

/** Queries by name; null if the log is empty or cannot be read in time. */
export async function queriesByName({
  log,
  clock,
  logger,
}: {
  readonly log: Pick<LogQuestions, 'topDomains'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): Promise<QueriesByName> {
  const toMs = clock.nowMs();
  const span = { fromMs: toMs - DAYS * DAY_MS, toMs, limit: MAX_NAMES };
  const signal = AbortSignal.timeout(LIMIT_MS);
  const counts = new Map<string, number>();
  try {
    for (const which of ['allowed', 'blocked'] as const)
      for (const { domain, count } of await log.topDomains({ ...span, which }, signal))
        counts.set(domain, (counts.get(domain) ?? 0) + count);
  } catch (error) {
    logger.warn('import: could not read the query log, so differences are not sorted by number of queries', {
      reason: reasonOf(error),
    });
    return null;
  }
  return counts.size === 0 ? null : counts;
}
