/** Whether blocking is on now, from memory, so that it can be asked without a database. */
import type { Config } from '../../../config/schema.ts';
import type { Blocking } from '../../../shared/api/policy/blocking-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { blockingSource, isBlockingEnabled, timerEndMs } from '../../policy/change/blocking-switch.ts';
import type { BlockingSwitch } from '../../policy/change/rows.ts';

/** The switch, its timer and who decides. */
export function blockingNow(
  said: BlockingSwitch | null,
  { blocking }: Pick<Config, 'blocking'>,
  clock: Clock,
): Blocking {
  const nowMs = clock.nowMs();
  const endMs = timerEndMs(said, nowMs);
  return {
    enabled: isBlockingEnabled(said, blocking.enabled, nowMs),
    timer_secs: endMs === null ? null : Math.ceil((endMs - nowMs) / 1000),
    source: blockingSource(said, nowMs),
    this_node_only: said?.isLocal === true && endMs !== null,
  };
}
