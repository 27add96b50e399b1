/** Determines from memory whether blocking is enabled, so that the state is available without a database. */
import type { Config } from '../../../config/schema.ts';
import type { Blocking } from '../../../shared/api/policy/blocking-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { blockingSource, isBlockingEnabled, timerEndMs } from '../../policy/change/blocking-switch.ts';
import type { BlockingSwitch } from '../../policy/change/rows.ts';

/** The state of blocking, its timer and its source. */
export function blockingNow(
  override: BlockingSwitch | null,
  { blocking }: Pick<Config, 'blocking'>,
  clock: Clock,
): Blocking {
  const nowMs = clock.nowMs();
  const endMs = timerEndMs(override, nowMs);
  return {
    enabled: isBlockingEnabled(override, blocking.enabled, nowMs),
    timer_secs: endMs === null ? null : Math.ceil((endMs - nowMs) / 1000),
    source: blockingSource(override, nowMs),
    this_node_only: override?.isLocal === true && endMs !== null,
  };
}
