/** Predefined times for families. */

/** A time of a schedule, without its action. */
export interface ReadyTime {
  /** Days on which the time starts: bit 0 is Monday, bit 6 is Sunday. */
  readonly days: number;
  readonly start_time: string;
  readonly end_time: string;
  /** Whether the time is skipped on holidays. */
  readonly skips_days_off: boolean;
}

/** Ids of the predefined times. */
export const READY_IDS = ['school', 'homework', 'bedtime'] as const;
export type ReadyId = (typeof READY_IDS)[number];

const SUNDAY_TO_THURSDAY = 0b1001111;
const MONDAY_TO_FRIDAY = 0b0011111;
const EVERY_DAY = 0b1111111;

export const READY_TIMES: Readonly<Record<ReadyId, ReadyTime>> = {
  school: { days: SUNDAY_TO_THURSDAY, start_time: '20:00', end_time: '07:00', skips_days_off: true },
  homework: { days: MONDAY_TO_FRIDAY, start_time: '15:00', end_time: '17:00', skips_days_off: true },
  bedtime: { days: EVERY_DAY, start_time: '21:00', end_time: '06:30', skips_days_off: false },
};

/** Id of the predefined time from which a time was made, even if its hours were changed; null if there is none. */
export function readyIdOf({ days, skips_days_off: skips }: ReadyTime): ReadyId | null {
  return (
    READY_IDS.find((id) => READY_TIMES[id].days === days && READY_TIMES[id].skips_days_off === skips) ?? null
  );
}
