/**
 * Zones and their data, as in unbound (unbound.conf, `local-zone` and `local-data`) and dnsmasq (`--address`,
 * `--server`, `--host-record`): data applies to its own name; other names get the longest matching zone.
 */
import { parentOf, type ScopedEntry, type Scopes } from './scoped-entry.ts';

/** Combines zones and data that are related to an exception; all others are independent. */
export class ZoneScopes implements Scopes {
  private readonly data = new Map<string, ScopedEntry>();
  private readonly zones = new Map<string, ScopedEntry>();
  private readonly exceptions = new Map<ScopedEntry, ScopedEntry[]>();
  private readonly dropped = new Set<ScopedEntry>();

  constructor(entries: readonly ScopedEntry[]) {
    for (const entry of relatedTo(entries)) this.insert(entry);
    for (const [name, data] of this.data) this.applyData(name, data);
    for (const entry of [...this.data.values(), ...this.zones.values()]) this.note(entry);
  }

  counts(entry: ScopedEntry): boolean {
    return !this.dropped.has(entry);
  }

  exceptionsOf(zone: ScopedEntry): readonly ScopedEntry[] {
    return this.exceptions.get(zone) ?? [];
  }

  reachesBelow(name: string, zone: ScopedEntry): boolean {
    return this.zoneOf(name) === zone;
  }

  private insert(entry: ScopedEntry): void {
    const { name, meaning } = entry;
    const into = meaning.reach === 'exact' ? this.data : this.zones;
    const before = into.get(name);
    if (before === undefined) {
      into.set(name, entry);
      return;
    }
    // Data that gives an answer takes precedence over data that gives none.
    const outranks = meaning.reach === 'exact' ? meaning.action !== 'block' : meaning.action === 'block';
    const isKept = meaning.isLastKept ?? (outranks && before.meaning.action !== meaning.action);
    if (isKept) into.set(name, entry);
    this.dropped.add(isKept ? before : entry);
  }

  private applyData(name: string, data: ScopedEntry): void {
    const zone = this.zoneOf(name);
    if (zone === undefined) return;
    const { meaning } = zone;
    if (meaning.ignoresData === true) {
      this.data.delete(name);
      this.dropped.add(data);
    } else if (meaning.isApexAnswer === true && data.meaning.action === 'pass' && zone.name === name) {
      this.zones.set(name, { ...zone, meaning: { ...meaning, action: 'pass' } });
      this.dropped.add(zone);
    }
  }

  /** Records an entry as an exception of every enclosing zone that has a different action. */
  private note(entry: ScopedEntry): void {
    for (let name: string | null = entry.name; name !== null; name = parentOf(name)) {
      const zone = this.zones.get(name);
      if (zone === undefined || zone === entry || zone.meaning.action === entry.meaning.action) continue;
      const noted = this.exceptions.get(zone);
      if (noted === undefined) this.exceptions.set(zone, [entry]);
      else noted.push(entry);
    }
  }

  /** The zone that contains a name. */
  private zoneOf(from: string): ScopedEntry | undefined {
    for (let name: string | null = from; name !== null; name = parentOf(name)) {
      const zone = this.zones.get(name);
      if (zone !== undefined) return zone;
    }
    return undefined;
  }
}

/** The entries that do not block, entries at enclosing names, and entries that they cover. */
function relatedTo(entries: readonly ScopedEntry[]): readonly ScopedEntry[] {
  const others = entries.filter(({ meaning }) => meaning.action !== 'block');
  if (others.length === 0) return [];
  const around = new Set<string>();
  const wide = new Set<string>();
  for (const { name, meaning } of others) {
    if (meaning.reach !== 'exact') wide.add(name);
    for (let at: string | null = name; at !== null; at = parentOf(at)) around.add(at);
  }
  return entries.filter(
    ({ name, meaning }) => meaning.action !== 'block' || around.has(name) || isCovered(name, wide),
  );
}

function isCovered(name: string, wide: ReadonlySet<string>): boolean {
  for (let at: string | null = name; at !== null; at = parentOf(at)) if (wide.has(at)) return true;
  return false;
}
