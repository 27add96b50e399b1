/** Common selections of weekdays, and texts for weekdays. */
import type { MessageKey } from '../../i18n/language.ts';
import { daysOf } from '../policy/week.ts';

/** Common selections of weekdays. */
export const DAY_PRESETS = [
  { id: 'every', bits: 0b1111111 },
  { id: 'work', bits: 0b0011111 },
  { id: 'weekend', bits: 0b1100000 },
  { id: 'school', bits: 0b1001111 },
] as const;

/** Text for a set of days: the name of a preset, or the names of the days. */
export function daysText(
  bits: number,
  say: (key: MessageKey) => string,
  weekday: (day: number) => string,
): string {
  const preset = DAY_PRESETS.find((one) => one.bits === bits);
  if (preset !== undefined) return say(`schedules.days.${preset.id}`);
  return daysOf(bits).map(weekday).join(', ');
}
