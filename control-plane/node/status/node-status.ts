/** The state of this node for pages that show it permanently: health, blocking, and whether anything is blocked. */
import type { Config } from '../../../config/schema.ts';
import type { StatusEvent } from '../../../shared/api/policy/status-api.ts';
import { timerEndMs } from '../../policy/change/blocking-switch.ts';
import { blockingNow } from '../../filtering/schedules/blocking-now.ts';
import { countBlocked } from '../../policy/snapshot/publish/filter-stats.ts';
import type { PublishedState } from '../../policy/snapshot/published-state.ts';
import { healthOf, type NamedNode } from '../system/node-health.ts';

export interface NodeStatusParts extends NamedNode {
  readonly configuration: { current(): Pick<Config, 'blocking'> };
  readonly health: { checks(): StatusEvent['health']['checks'] };
  readonly publisher: { current(): PublishedState };
  readonly unblockRequests: { ids(): number[] };
}

/** Reads the state; blocked names are counted again only after a new snapshot was published. */
export function nodeStatusReader(
  parts: NodeStatusParts,
): () => { readonly event: StatusEvent; readonly version: string } {
  let counted: PublishedState | null = null;
  let blockedNames = 0;
  return () => {
    const published = parts.publisher.current();
    if (published !== counted) {
      blockedNames = countBlocked(published);
      counted = published;
    }
    const { blockingSwitch } = published.rows;
    const event = {
      health: healthOf(parts, parts.health.checks()),
      blocking: blockingNow(blockingSwitch, parts.configuration.current(), parts.clock),
      blocked_names: blockedNames,
      unblock_requests: parts.unblockRequests.ids(),
      policy_version: published.snapshot.version,
    };
    const endMs = timerEndMs(blockingSwitch, parts.clock.nowMs());
    return { event, version: versionOf(event, endMs, published.snapshot.version) };
  };
}

/**
 * A text that changes with the state, except for values that only change with time. It includes the version of the
 * policy, because a state may change and change back between two checks.
 */
function versionOf({ health, blocking, ...rest }: StatusEvent, endMs: number | null, policy: number): string {
  return JSON.stringify([{ ...health, uptime_secs: 0 }, { ...blocking, timer_secs: endMs }, rest, policy]);
}
