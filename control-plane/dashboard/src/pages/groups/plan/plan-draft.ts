/** Form values of a plan. */
import type { AnswerOf, CallOf } from '../../../../../../shared/api/client/typed-client.ts';
import { READY_TIMES, readyIdOf } from '../../../ui/choices/ready-times.ts';
import type { ReadyId, ReadyTime } from '../../../ui/choices/ready-times.ts';
import { filledIn } from '../../../ui/choices/day-ranges.ts';
import type { DayRange } from '../../../ui/choices/day-ranges.ts';

/** A plan as the API returns it. */
export type GroupPlan = AnswerOf<'GET /group-plans/{id}'>;

type PlanBody = CallOf<'PUT /group-plans/{id}'>['body'];

export interface PlanDraft extends Omit<GroupPlan, 'id'> {
  /** Whether the user has entered the name, so that selecting a device no longer changes the name. */
  readonly isNamed: boolean;
}

/** Form values of a new plan. */
export function newDraft(timezone: string, daysOff: readonly DayRange[]): PlanDraft {
  return {
    ...{ name: '', isNamed: false, timezone, client_ids: [], services: [] },
    ...{ service_times: [READY_TIMES.school], offline_times: [], days_off: [...daysOff] },
  };
}

/** Form values of an existing plan. If the group has no times, its time zone is that of the browser. */
export function draftOf({ id: _id, ...plan }: GroupPlan, timezone: string): PlanDraft {
  const hasTimes = plan.service_times.length + plan.offline_times.length > 0;
  return { ...plan, timezone: hasTimes ? plan.timezone : timezone, isNamed: true };
}

/** Body of the request. */
export function bodyOf({ isNamed: _isNamed, ...draft }: PlanDraft): PlanBody {
  return { ...draft, name: draft.name.trim(), days_off: filledIn(draft.days_off) };
}

/** Whether the draft can be saved. */
export function isReady({
  name,
  service_times: some,
  offline_times: all,
  days_off: off,
}: PlanDraft): boolean {
  const isWhole = ({ days, start_time: start, end_time: end }: ReadyTime): boolean =>
    days > 0 && start !== '' && end !== '' && start !== end;
  return name.trim() !== '' && [...some, ...all].every(isWhole) && off.every(({ from, to }) => from <= to);
}

/** A unique group name for this device: the owner's name if the device name contains it. */
export function nameAfter(device: string, taken: readonly string[]): string {
  const short = device.replace(/\.(lan|local|home|home\.arpa|fritz\.box)$/i, '');
  const base = (/^(.+?)['’]s\b/.exec(short)?.[1] ?? short).trim().slice(0, 80);
  const isTaken = (name: string): boolean => taken.some((one) => one.toLowerCase() === name.toLowerCase());
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base} ${number}`;
    if (!isTaken(name)) return name;
  }
}

/** Adds or removes a predefined time. */
export function withReady(times: readonly ReadyTime[], id: ReadyId, isChosen: boolean): ReadyTime[] {
  const others = times.filter((time) => readyIdOf(time) !== id);
  return isChosen ? [...others, READY_TIMES[id]] : others;
}

/** Adds a service that is blocked at the times of the plan, or removes a service. */
export function withService(
  services: PlanDraft['services'],
  id: string,
  isChosen: boolean,
): PlanDraft['services'] {
  const others = services.filter(({ service_id: other }) => other !== id);
  return isChosen ? [...others, { service_id: id, always: false }] : others;
}

/** All days off of these schedules, without duplicates. */
export function allDaysOff(profiles: readonly { readonly days_off: readonly DayRange[] }[]): DayRange[] {
  const ranges = profiles.flatMap(({ days_off: off }) => off);
  const once = new Map(ranges.map((range) => [`${range.from} ${range.to}`, range]));
  return [...once.values()].sort((one, other) => one.from.localeCompare(other.from));
}
