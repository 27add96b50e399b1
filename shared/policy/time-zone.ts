/** Time zones by their IANA names, and their offsets from UTC. */
import { IANAZone } from 'luxon';
import type { ZoneOffset } from './schedule.ts';

/** Form of a zone's name; an offset such as `+01:00` is not accepted, because it has no daylight saving time. */
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** Whether a zone with that name exists. */
export function isTimeZone(name: string): boolean {
  return NAME.test(name) && IANAZone.isValidZone(name);
}

/** Cache of known zones, because checking a name is slow. */
const known = new Map<string, ZoneOffset>();

/** The offset of a zone from UTC; null for an unknown zone. */
export function zoneOffset(name: string): ZoneOffset | null {
  const before = known.get(name);
  if (before !== undefined) return before;
  if (!isTimeZone(name)) return null;
  const zone = IANAZone.create(name);
  const offsetAt: ZoneOffset = (atMs) => zone.offset(atMs);
  known.set(name, offsetAt);
  return offsetAt;
}
