/** Lines of formats in which the nearest rule decides: the action of each for its names. */

/** Effect of an entry on its names; `pass` makes no rule, but keeps wider ones away. */
export type ScopedAction = 'block' | 'allow' | 'pass';
/** The name alone, the name and all below it, or only those below it. */
export type ScopedReach = 'exact' | 'suffix' | 'below';

/** The meaning of a line; shared by many entries. */
export interface ScopedMeaning {
  readonly action: ScopedAction;
  readonly reach: ScopedReach;
  readonly form: 'unbound' | 'dnsmasq' | 'rpz';
  /** A zone that ignores data at its names, as unbound's `always_…` types do. */
  readonly ignoresData?: boolean;
  /** A zone that is answered with the data of its apex, as unbound's `redirect` is. */
  readonly isApexAnswer?: boolean;
  /** Of two zones with one name the last counts; else a blocking one does. */
  readonly isLastKept?: boolean;
  /** Other data at the same name decide. */
  readonly isWeak?: boolean;
}

/** A name, its action, and the line of it. */
export interface ScopedEntry {
  /** Folded, without a final dot. */
  readonly name: string;
  readonly meaning: ScopedMeaning;
  /** 1-based. */
  readonly line: number;
}

/** The entries of a list, weighed against each other. */
export interface Scopes {
  /** Whether the entry has an effect: it is not a duplicate, nor data that its zone ignores. */
  counts(entry: ScopedEntry): boolean;
  /** Entries at or below the name of a wide entry that decide otherwise. */
  exceptionsOf(wide: ScopedEntry): readonly ScopedEntry[];
  /** Whether a wide entry also decides about the names right below `name`. */
  reachesBelow(name: string, wide: ScopedEntry): boolean;
}

/** The name without its first label; null for a single one. */
export function parentOf(name: string): string | null {
  const dot = name.indexOf('.');
  return dot < 0 ? null : name.slice(dot + 1);
}
