/** Lines of formats in which the rule with the closest enclosing name applies: each has an action for its names. */

/** Effect of an entry on its names; `pass` gives no rule, but excludes its names from rules of enclosing names. */
export type ScopedAction = 'block' | 'allow' | 'pass';
/** The name alone, the name and its subdomains, or only its subdomains. */
export type ScopedReach = 'exact' | 'suffix' | 'below';

/** The meaning of a line; shared by many entries. */
export interface ScopedMeaning {
  readonly action: ScopedAction;
  readonly reach: ScopedReach;
  readonly form: 'unbound' | 'dnsmasq' | 'rpz';
  /** Whether the zone ignores data for its names, like unbound's `always_…` types. */
  readonly ignoresData?: boolean;
  /** Whether all names in the zone are answered with the data of the apex, like in unbound's `redirect`. */
  readonly isApexAnswer?: boolean;
  /** If there are several zones with the same name: whether the last one is used, instead of the one that blocks. */
  readonly isLastKept?: boolean;
  /** Whether other data for the same name take precedence. */
  readonly isWeak?: boolean;
}

/** A name, its action, and its line. */
export interface ScopedEntry {
  /** Lower case, without a final dot. */
  readonly name: string;
  readonly meaning: ScopedMeaning;
  /** Line number, starting at 1. */
  readonly line: number;
}

/** The entries of a list, combined. */
export interface Scopes {
  /** Whether the entry has an effect: it is neither a duplicate nor data that the zone ignores. */
  counts(entry: ScopedEntry): boolean;
  /** Entries at or below the name of a wide entry with a different action. */
  exceptionsOf(wide: ScopedEntry): readonly ScopedEntry[];
  /** Whether a wide entry also applies to the direct subdomains of `name`. */
  reachesBelow(name: string, wide: ScopedEntry): boolean;
}

/** The name without its first label; null if the name has only one label. */
export function parentOf(name: string): string | null {
  const dot = name.indexOf('.');
  return dot < 0 ? null : name.slice(dot + 1);
}
