/** Puts the configuration of the cluster into force on this node when another node has changed it. */
import type { Logger } from '../../shared/log.ts';
import { Retrying } from '../concurrency/retrying.ts';
import type { Database } from '../db/database.ts';
import type { PolicyApplier } from '../policy/change.ts';
import { CONFIG_CHANNEL } from './config-store.ts';
import type { Configuration } from './configuration.ts';

/** Milliseconds between two looks for a notice that was missed while its connection was made. */
const LOOK_MS = 60_000;

/** What follows the rows. */
export interface RowFollower {
  /** Looks now; for when the database is back, as notices were missed. */
  look(): Promise<void>;
  close(): Promise<void>;
}

/** Looks at the rows with each notice that one has changed. */
export function followRows(
  { configuration, database, logger }: { configuration: Configuration; database: Database; logger: Logger },
  policy: Pick<PolicyApplier, 'apply'>,
): RowFollower {
  const work = async (): Promise<void> => {
    if (database.status().state === 'up' && (await configuration.isBehind())) await policy.apply();
  };
  const retrying = new Retrying({ work, logger, what: 'follow the configuration of the cluster' });
  const stop = database.listen(CONFIG_CHANNEL, () => void retrying.now());
  const timer = setInterval(() => void retrying.now(), LOOK_MS).unref();
  return {
    look: () => retrying.now(),
    close: () => {
      clearInterval(timer);
      stop();
      return retrying.close();
    },
  };
}
