/** Times that families often want, ready to choose. */

/** A time of a schedule without what it does. */
export interface ReadyTime {
  /** Bit 0 = Monday to bit 6 = Sunday: the days on which it starts. */
  readonly days: number;
  readonly start_time: string;
  readonly end_time: string;
  /** Not on holidays. */
  readonly skips_days_off: boolean;
}

/** Their names. */
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

/** Which of them a time is, also after its hours were changed; null = none. */
export function readyIdOf({ days, skips_days_off: skips }: ReadyTime): ReadyId | null {
  return (
    READY_IDS.find((id) => READY_TIMES[id].days === days && READY_TIMES[id].skips_days_off === skips) ?? null
  );
}
