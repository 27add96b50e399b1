/** Time zones by their IANA names: which there are, and what their clocks show. */
import { IANAZone } from 'luxon';
import type { ZoneOffset } from './schedule.ts';

/** Names only: an offset such as `+01:00` knows no daylight saving and is no zone. */
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** Whether there is a zone of that name. */
export function isTimeZone(name: string): boolean {
  return NAME.test(name) && IANAZone.isValidZone(name);
}

/** The offset of a zone from UTC; null for an unknown zone. */
export function zoneOffset(name: string): ZoneOffset | null {
  if (!isTimeZone(name)) return null;
  const zone = IANAZone.create(name);
  return (atMs) => zone.offset(atMs);
}
