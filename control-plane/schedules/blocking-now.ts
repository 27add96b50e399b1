/** Whether blocking is on now, from memory, so that it can be asked without a database. */
import type { Config } from '../../config/schema.ts';
import type { Blocking } from '../../shared/api/policy/blocking-api.ts';
import type { Clock } from '../../shared/clock.ts';
import { blockingSource, isBlockingEnabled, timerEndMs } from '../policy/blocking-switch.ts';
import type { BlockingSwitch } from '../policy/rows.ts';

/** What decides about blocking as a whole. */
export interface BlockingParts {
  /** What was said through the API about blocking as a whole, as it is in force. */
  readonly blockingSwitch: () => BlockingSwitch | null;
  /** Asked each time, because a reload replaces it. */
  readonly config: () => Pick<Config, 'blocking'>;
  readonly clock: Clock;
}

/** The switch, its timer and who decides. */
export function blockingNow({ clock, config, blockingSwitch }: BlockingParts): Blocking {
  const nowMs = clock.nowMs();
  const said = blockingSwitch();
  const endMs = timerEndMs(said, nowMs);
  return {
    enabled: isBlockingEnabled(said, config().blocking.enabled, nowMs),
    timer_secs: endMs === null ? null : Math.ceil((endMs - nowMs) / 1000),
    source: blockingSource(said, nowMs),
  };
}
