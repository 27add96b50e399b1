/**
 * Computes the effect of schedules, of services that are blocked at certain times, and of the blocking timer at a given
 * time. Pure.
 */
import { DEFAULT_GROUP_ID } from '../../../shared/api/policy/groups-api.ts';
import { timerEndMs } from '../../policy/change/blocking-switch.ts';
import type { GroupOverride } from '../../policy/change/runtime-state.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import { slotsAt } from '../../policy/change/times.ts';

/**
 * The time-dependent override of each group, and the time of its next change. The override can change because of a
 * schedule, a service that is blocked at certain times, or the end of the blocking timer, which is the same for every
 * group.
 */
export function overridesAt(
  rows: Pick<PolicyRows, 'groups' | 'schedules' | 'blockedServices' | 'blockingSwitch'>,
  nowMs: number,
): Map<number, GroupOverride> {
  const states = new Map<number, GroupOverride['override']>();
  const flips = new Map<number, number>();
  const note = (groupId: number, flipMs: number | null): void =>
    void flips.set(groupId, Math.min(flips.get(groupId) ?? Infinity, flipMs ?? Infinity));
  const endMs = timerEndMs(rows.blockingSwitch, nowMs);
  if (endMs !== null)
    for (const id of [DEFAULT_GROUP_ID, ...rows.groups.map((group) => group.id)]) note(id, endMs);
  for (const { groupId, times } of rows.blockedServices)
    if (times !== null && times !== undefined) note(groupId, slotsAt(times, nowMs).flipMs);
  for (const schedule of rows.schedules) {
    const { override, flipMs } = slotsAt(schedule, nowMs);
    states.set(schedule.groupId, override);
    note(schedule.groupId, flipMs);
  }
  return new Map(
    [...flips].map(([groupId, flipMs]) => [
      groupId,
      {
        override: states.get(groupId) ?? null,
        nextFlipAtSecs: flipMs === Infinity ? 0 : Math.floor(flipMs / 1000),
      },
    ]),
  );
}
