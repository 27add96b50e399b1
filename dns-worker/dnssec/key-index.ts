/**
 * Finds keys and DS records by key tag and algorithm, so that each of thousands of signatures or DS records costs one
 * lookup, not a comparison with each of thousands of keys.
 */
import { MAX_COLLIDING_KEYS } from './budget.ts';
import type { Dnskey, Ds } from './dnskey.ts';
import type { Rrsig } from './rrsig.ts';

/** Keys with the same tag and algorithm. */
interface NamedKeys {
  /** Keys that may sign, up to the maximum number that is tried. */
  readonly zoneKeys: Dnskey[];
  /** Whether a key lacks only the zone-key bit. */
  lacksZoneBit: boolean;
}

const NONE: Readonly<NamedKeys> = { zoneKeys: [], lacksZoneBit: false };

/** Indexes of immutable key lists, built at the first lookup. */
const indexes = new WeakMap<readonly Dnskey[], ReadonlyMap<number, NamedKeys>>();

/** The keys that may have made a signature. */
export function keysOf(rrsig: Rrsig, keys: readonly Dnskey[]): Readonly<NamedKeys> {
  let index = indexes.get(keys);
  if (index === undefined) indexes.set(keys, (index = indexKeys(keys)));
  return index.get(place(rrsig.keyTag, rrsig.algorithm)) ?? NONE;
}

function indexKeys(keys: readonly Dnskey[]): ReadonlyMap<number, NamedKeys> {
  const index = new Map<number, NamedKeys>();
  for (const key of keys) {
    const at = place(key.tag, key.algorithm);
    let named = index.get(at);
    if (named === undefined) index.set(at, (named = { zoneKeys: [], lacksZoneBit: false }));
    if (key.lacksZoneBit) named.lacksZoneBit = true;
    if (key.isZoneKey && named.zoneKeys.length < MAX_COLLIDING_KEYS) named.zoneKeys.push(key);
  }
  return index;
}

/** DS records by the key they refer to, up to the maximum number that is tried per key. */
export class DsIndex {
  private readonly index = new Map<number, Ds[]>();

  constructor(all: readonly Ds[]) {
    for (const ds of all) {
      const at = place(ds.tag, ds.algorithm);
      const others = this.index.get(at);
      if (others === undefined) this.index.set(at, [ds]);
      else if (others.length < MAX_COLLIDING_KEYS) others.push(ds);
    }
  }

  /** DS records with the tag and algorithm of a key; the caller must compare their digests. */
  find(key: Dnskey): readonly Ds[] {
    return this.index.get(place(key.tag, key.algorithm)) ?? [];
  }
}

function place(tag: number, algorithm: number): number {
  return (tag << 8) | algorithm;
}
