/**
 * Facts about the node in several responses: the blocking switch, and versions. The versions are those of the Pi-hole
 * release that this API follows, because clients derive its features from them; the remote versions are the same, so
 * that no client offers an update.
 */
import type { Config } from '../../../config/schema.ts';
import type { Untimed } from '../../../shared/api/compat/compat-api.ts';
import type { CompatBlocking, CompatVersions } from '../../../shared/api/compat/compat-node-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { isBlockingEnabled, timerEndMs } from '../../policy/change/blocking-switch.ts';
import type { BlockingSwitch } from '../../policy/change/rows.ts';

/** Whether queries are blocked, and for how many more seconds. */
export function blockingNow(
  override: BlockingSwitch | null,
  { blocking }: Pick<Config, 'blocking'>,
  clock: Clock,
): Untimed<CompatBlocking> {
  const nowMs = clock.nowMs();
  const endMs = timerEndMs(override, nowMs);
  return {
    blocking: isBlockingEnabled(override, blocking.enabled, nowMs) ? 'enabled' : 'disabled',
    timer: endMs === null ? null : Math.ceil((endMs - nowMs) / 1000),
  };
}

const FOLLOWED = 'v6.4.1';

const local = { branch: 'master', version: FOLLOWED, hash: null };
const remote = { version: FOLLOWED, hash: null };

/** Versions of all components. */
export const VERSIONS: CompatVersions = {
  core: { local, remote },
  web: { local, remote },
  ftl: { local: { ...local, date: null }, remote },
  docker: { local: null, remote: null },
};
