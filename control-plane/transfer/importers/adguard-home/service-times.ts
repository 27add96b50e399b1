/** Converts the times at which AdGuard Home allows blocked services to the times at which Weir blocks them. Pure. */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { AdguardSchedule } from './adguard-settings.ts';

/** A time range on some weekdays: days as bits, Monday 1; `start` and `end` in minutes since midnight. */
export interface BlockedSlot {
  readonly days: number;
  readonly start: number;
  readonly end: number;
}

const DAY_MINUTES = 1440;

/** The times of a week at which services are not allowed; days with equal times share a slot. */
export function blockedSlots({ days }: AdguardSchedule): BlockedSlot[] {
  const slots = new Map<string, BlockedSlot>();
  for (const [day, allowed] of days.entries()) {
    const blocked =
      allowed === null
        ? [[0, DAY_MINUTES]]
        : [
            [0, allowed.start],
            [allowed.end, DAY_MINUTES],
          ];
    for (const [start = 0, end = 0] of blocked) {
      if (start >= end) continue;
      const key = `${start}-${end}`;
      slots.set(key, { days: (slots.get(key)?.days ?? 0) | (1 << day), start, end });
    }
  }
  return [...slots.values()];
}

/**
 * The time zone of a schedule; `Local` means the zone of AdGuard Home's machine, for which the zone of this machine is
 * used.
 */
export function zoneOf(written: string): { readonly timeZone: string; readonly remark: ImportReason | null } {
  if (written !== 'Local') return { timeZone: written === '' ? 'UTC' : written, remark: null };
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { timeZone, remark: importReason('adguard_time_zone', { timeZone }) };
}
