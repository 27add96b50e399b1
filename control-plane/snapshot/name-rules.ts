/** Puts the name rules of a snapshot together, from the rows and the configuration. */
import type { NameRules } from '../../shared/snapshot/name-rules.ts';
import type { PolicyRows } from './compiled-rules.ts';
import type { ZoneNumbers } from './forward-zones.ts';

/** What `rows` say of names; `zones` gives out the numbers of this run. */
export function nameRules(rows: PolicyRows, zones: ZoneNumbers): NameRules {
  return { forwardZones: zones.number(rows.forwardZones) };
}
