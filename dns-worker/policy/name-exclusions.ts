/**
 * Domains whose queries, including those of subdomains, are excluded from the log, from statistics, or from both.
 * Without excluded domains, a query costs one comparison; with them, one pass over its name and one lookup per label.
 */
import { nameFromText } from '../../shared/dns/name.ts';
import { Exclusion, type ExclusionBits } from '../../shared/query-log.ts';
import type { Query } from '../query/query.ts';

interface ExcludedName {
  /** Domain in wire form. */
  readonly name: Uint8Array;
  exclusion: ExclusionBits;
}

const FACTOR = 0x01000193;
/** Limits a hash to a small integer, for which a map lookup does not allocate. */
const HASH_MASK = 0x3fff_ffff;

/** The excluded domains. */
export class NameExclusions {
  /** Domains by the hash of their name, computed from its end; names with the same hash are in one list. */
  private readonly byHash = new Map<number, ExcludedName[]>();

  /** Takes domains in presentation form; invalid names are skipped. */
  constructor(fromLog: readonly string[], fromStats: readonly string[]) {
    for (const text of fromLog) this.add(text, Exclusion.LOG);
    for (const text of fromStats) this.add(text, Exclusion.STATS);
  }

  /** Whether the query's name excludes it from the log or from statistics. */
  of({ qname, qnameLength, labelAt, labelCount }: Query): ExclusionBits {
    const { byHash } = this;
    if (byHash.size === 0) return Exclusion.NONE;
    let exclusion = 0;
    let hash = 0;
    let at = qnameLength;
    for (let label = labelCount - 1; label >= 0; label--) {
      const start = labelAt[label]!;
      while (at > start) hash = Math.imul(hash ^ qname[--at]!, FACTOR);
      const found = byHash.get(hash & HASH_MASK);
      if (found === undefined) continue;
      for (let i = 0; i < found.length; i++)
        if (endsWith(qname, qnameLength, found[i]!.name)) exclusion |= found[i]!.exclusion;
    }
    return exclusion as ExclusionBits;
  }

  private add(text: string, exclusion: ExclusionBits): void {
    const name = nameFromText(text);
    if (name === null) return;
    let hash = 0;
    for (let at = name.length; at > 0;) hash = Math.imul(hash ^ name[--at]!, FACTOR);
    const list = this.byHash.get(hash & HASH_MASK) ?? [];
    const known = list.find((one) => endsWith(one.name, one.name.length, name));
    if (known === undefined) list.push({ name, exclusion });
    else known.exclusion = (known.exclusion | exclusion) as ExclusionBits;
    this.byHash.set(hash & HASH_MASK, list);
  }
}

/** Whether `name`, `length` bytes long, ends with `end`. */
function endsWith(name: Uint8Array, length: number, end: Uint8Array): boolean {
  const from = length - end.length;
  if (from < 0) return false;
  for (let i = 0; i < end.length; i++) if (name[from + i] !== end[i]) return false;
  return true;
}
