/**
 * The names behind the numbers of a log record: lists and schedules from the snapshots' history, upstreams from pools
 * and zones.
 */
import type { ZoneNumbers } from '../policy/snapshot/build/zone-numbers.ts';
import type { SnapshotPublisher } from '../policy/snapshot/publish/publisher.ts';
import type { RecordNames } from '../query-log/drain/log-drain.ts';

/** Names for records of threads that run with these pools. */
export function recordNames(
  publisher: SnapshotPublisher,
  pools: { readonly addressOf: (number: number) => string | undefined },
  zones: Pick<ZoneNumbers, 'upstreamOf'>,
): RecordNames {
  return {
    upstream: (index) => pools.addressOf(index) ?? zones.upstreamOf(index + 1),
    schedule: (version, groupId) => publisher.loggedSchedule(version, groupId),
    rule: (version, rule, name) => publisher.loggedRule(version, rule, name),
  };
}
