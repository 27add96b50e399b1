/**
 * The configuration keys of a plan as the user chooses them: one row per key, and one for each pool of upstreams. Pure.
 */
import { isSameValue } from '../../../../config/layers.ts';
import type { Values } from '../../../../config/layers.ts';
import type { PlannedKey } from '../plan/import-plan.ts';

/** One setting that an import offers. */
export interface OfferedSetting extends PlannedKey {
  /** Id by which users choose the setting: the key, or the key with the index of a pool. */
  readonly id: string;
}

/** Settings that a plan offers. */
export interface Offers {
  readonly settings: readonly OfferedSetting[];
  /** Keys that already have the planned value. */
  readonly same: readonly PlannedKey[];
}

const POOLS = 'dns.pools';

/** The rows; for a key that is given twice, the last value applies. */
export function offersOf(keys: readonly PlannedKey[], current: Values): Offers {
  const merged = new Map<string, PlannedKey>();
  for (const planned of keys) {
    const items = [...(merged.get(planned.key)?.items ?? []), ...planned.items];
    // The value has the form of a request body, whatever created the plan.
    const value: unknown = JSON.parse(JSON.stringify(planned.value));
    merged.set(planned.key, { ...planned, value, items: [...new Set(items)] });
  }
  const same: PlannedKey[] = [];
  const settings: OfferedSetting[] = [];
  for (const planned of merged.values()) {
    const { key, value } = planned;
    if (isSameValue(value, current[key])) same.push(planned);
    else if (key === POOLS && Array.isArray(value))
      settings.push(...value.map((pool, at) => ({ ...planned, value: pool as unknown, id: `${key}.${at}` })));
    else settings.push({ ...planned, id: key });
  }
  return { settings, same };
}

/** Values of these rows by key; the chosen pools form a list. */
export function valuesOfRows(rows: readonly OfferedSetting[]): Values {
  const values: Record<string, unknown> = {};
  for (const { id, key, value } of rows) {
    if (id === key) values[key] = value;
    else values[key] = [...((values[key] as unknown[] | undefined) ?? []), value];
  }
  return values;
}

/** The servers of a row that is a pool of upstreams; null for other keys. */
export function serversOf({ id, key, value }: OfferedSetting): readonly string[] | null {
  if (id === key || typeof value !== 'object' || value === null || !('servers' in value)) return null;
  return Array.isArray(value.servers) ? value.servers.filter((one) => typeof one === 'string') : null;
}
