/** Evaluates the slots of a profile at a given time, for groups and for services with a schedule. Pure. */
import { layOutWeek, nextFlipAt, overrideAt } from '../../../shared/policy/schedule.ts';
import type { ScheduleWeek } from '../../../shared/policy/schedule.ts';
import { dayRange } from '../../../shared/policy/time-of-day.ts';
import { zoneOffset } from '../../../shared/policy/time-zone.ts';
import type { GroupOverride } from './runtime-state.ts';
import type { PolicyBlockedService, PolicyTimes } from './rows.ts';

/** Cache of weeks, by their rows; the rows are the same objects until policy changes. */
const weeks = new WeakMap<PolicyTimes, ScheduleWeek>();

/** The override that the slots require at a given time, and the time of its next change; null = it never changes. */
export function slotsAt(
  times: PolicyTimes,
  nowMs: number,
): { override: GroupOverride['override']; flipMs: number | null } {
  const offsetAt = zoneOffset(times.timezone);
  // This version of Node.js does not know the time zone, so the slots have no effect.
  if (offsetAt === null) return { override: null, flipMs: null };
  const week = weekOf(times);
  return { override: overrideAt(week, offsetAt, nowMs), flipMs: nextFlipAt(week, offsetAt, nowMs) };
}

/** The services that are blocked at a given time; returns the same array if all services are blocked. */
export function servicesAt(
  services: readonly PolicyBlockedService[],
  nowMs: number,
): readonly PolicyBlockedService[] {
  const isBlocked = ({ times }: PolicyBlockedService): boolean =>
    times === null || times === undefined || isBlockingAt(times, nowMs);
  return services.every(isBlocked) ? services : services.filter(isBlocked);
}

function isBlockingAt(times: PolicyTimes, nowMs: number): boolean {
  const offsetAt = zoneOffset(times.timezone);
  return offsetAt !== null && overrideAt(weekOf(times), offsetAt, nowMs) === 'BlockAll';
}

function weekOf(times: PolicyTimes): ScheduleWeek {
  let week = weeks.get(times);
  if (week === undefined)
    weeks.set(times, (week = layOutWeek(times.slots, (times.daysOff ?? []).map(dayRange))));
  return week;
}

/** Whether the same services are blocked at both times. */
export function areSameServices(
  one: readonly PolicyBlockedService[],
  other: readonly PolicyBlockedService[],
): boolean {
  return one === other || (one.length === other.length && one.every((row, index) => row === other[index]));
}
