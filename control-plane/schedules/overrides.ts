/** Computes the effect of schedules and of the blocking switch's timer at an instant. Pure. */
import { DEFAULT_GROUP_ID } from '../../shared/api/policy/groups-api.ts';
import { layOutWeek, nextFlipAt, overrideAt } from '../../shared/policy/schedule.ts';
import type { ScheduleWeek } from '../../shared/policy/schedule.ts';
import { zoneOffset } from '../../shared/policy/time-zone.ts';
import { timerEndMs } from '../policy/blocking-switch.ts';
import type { GroupOverride } from '../policy/live.ts';
import type { PolicyRows, PolicySchedule } from '../policy/rows.ts';

/** Rows stay the same objects until policy changes. */
const weeks = new WeakMap<PolicySchedule, ScheduleWeek>();

/**
 * The override of each group that has a schedule, and the instant of its next change. While the blocking
 * switch has a timer, its end is a change for every group.
 */
export function overridesAt(
  rows: Pick<PolicyRows, 'groups' | 'schedules' | 'blockingSwitch'>,
  nowMs: number,
): Map<number, GroupOverride> {
  const overrides = new Map<number, GroupOverride>();
  const endMs = timerEndMs(rows.blockingSwitch, nowMs);
  if (endMs !== null) {
    const waiting: GroupOverride = { override: null, nextFlipAtSecs: Math.floor(endMs / 1000) };
    overrides.set(DEFAULT_GROUP_ID, waiting);
    for (const { id } of rows.groups) overrides.set(id, waiting);
  }
  for (const schedule of rows.schedules) {
    const { override, flipMs } = evaluate(schedule, nowMs);
    const firstMs = Math.min(flipMs ?? Infinity, endMs ?? Infinity);
    const nextFlipAtSecs = firstMs === Infinity ? 0 : Math.floor(firstMs / 1000);
    overrides.set(schedule.groupId, { override, nextFlipAtSecs });
  }
  return overrides;
}

function evaluate(
  schedule: PolicySchedule,
  nowMs: number,
): { override: GroupOverride['override']; flipMs: number | null } {
  const offsetAt = zoneOffset(schedule.timezone);
  // A zone that this version of Node does not know: its schedule has no effect.
  if (offsetAt === null) return { override: null, flipMs: null };
  let week = weeks.get(schedule);
  if (week === undefined) weeks.set(schedule, (week = layOutWeek(schedule.slots)));
  return { override: overrideAt(week, offsetAt, nowMs), flipMs: nextFlipAt(week, offsetAt, nowMs) };
}
