/**
 * Owners and wildcards of a response policy zone. A wildcard does not cover a name that exists in the zone, or its
 * subdomains (RFC 4592 section 3.3.1); a name exists if an owner ends with it.
 */
import { parentOf, type ScopedEntry, type Scopes } from './scoped-entry.ts';

/** The records of one zone. */
export class WildcardScopes implements Scopes {
  private readonly owners = new Map<string, ScopedEntry>();
  /** Wildcards by their parent name. */
  private readonly wildcards = new Map<string, ScopedEntry>();
  private readonly exceptions = new Map<ScopedEntry, Map<string, ScopedEntry>>();
  private readonly dropped = new Set<ScopedEntry>();

  constructor(entries: readonly ScopedEntry[]) {
    for (const entry of entries) this.insert(entry);
    for (const name of this.owners.keys()) this.note(name);
    for (const name of this.wildcards.keys()) if (!this.owners.has(name)) this.note(name);
  }

  counts(entry: ScopedEntry): boolean {
    return !this.dropped.has(entry);
  }

  exceptionsOf(wildcard: ScopedEntry): readonly ScopedEntry[] {
    return [...(this.exceptions.get(wildcard)?.values() ?? [])];
  }

  reachesBelow(): boolean {
    return false;
  }

  private insert(entry: ScopedEntry): void {
    const into = entry.meaning.reach === 'exact' ? this.owners : this.wildcards;
    const before = into.get(entry.name);
    const isKept = before === undefined || before.meaning.isWeak === true;
    if (isKept) into.set(entry.name, entry);
    if (before !== undefined) this.dropped.add(isKept ? before : entry);
  }

  /**
   * Records a name as an exception of wildcards at enclosing names, unless the name's own records have the same action
   * as the closest wildcard.
   */
  private note(name: string): void {
    let below = name;
    let at = parentOf(name);
    while (at !== null && !this.wildcards.has(at)) {
      below = at;
      at = parentOf(at);
    }
    if (at === null) return;
    const { action } = this.wildcards.get(at)!.meaning;
    const isSame =
      below === name &&
      this.owners.get(name)?.meaning.action === action &&
      this.wildcards.get(name)?.meaning.action === action;
    if (isSame) return;
    const existing = { name: below, meaning: EXISTING, line: 0 };
    for (; at !== null; at = parentOf(at)) {
      const wildcard = this.wildcards.get(at);
      if (wildcard === undefined) continue;
      const noted = this.exceptions.get(wildcard);
      if (noted === undefined) this.exceptions.set(wildcard, new Map([[below, existing]]));
      else noted.set(below, existing);
    }
  }
}

/**
 * Meaning of a name that exists in the zone: wildcards at enclosing names cover neither the name nor its subdomains.
 */
const EXISTING = { action: 'pass', reach: 'suffix', form: 'rpz' } as const;
