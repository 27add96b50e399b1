/** Denial of existence by NSEC records (RFC 4035 section 5.4, RFC 6840 section 4). */
import type { SignedRRset } from './answer-records.ts';
import { RRType } from '../../shared/dns/iana.ts';
import {
  ancestor,
  commonLabels,
  compareNames,
  isBelow,
  isSame,
  type Name,
  readPlainName,
  ROOT,
  wildcardBelow,
} from './names.ts';
import type { Delegation, Denial, Proof } from './proof.ts';
import { TypeBitmap } from './type-bitmap.ts';

interface Nsec {
  readonly owner: Name;
  readonly next: Name;
  readonly types: TypeBitmap;
}

/** The NSEC records of one zone in one answer. */
export class NsecDenial implements Denial {
  readonly isTooCostly = false;
  private readonly records: readonly Nsec[];

  private constructor(records: readonly Nsec[]) {
    this.records = records;
  }

  /** Reads validated RRsets; skips malformed records. */
  static read(sets: readonly SignedRRset[]): NsecDenial {
    const records: Nsec[] = [];
    for (const { owner, rdatas } of sets) {
      const next = readPlainName(rdatas[0]!, 0);
      const types = next === null ? null : TypeBitmap.read(rdatas[0]!.subarray(next.length));
      // A zone has one NSEC record per name.
      if (next !== null && types !== null && rdatas.length === 1) records.push({ owner, next, types });
    }
    return new NsecDenial(records);
  }

  nameError(qname: Name): Proof {
    const gap = this.gapAt(qname);
    if (gap === undefined || isBelow(gap.next, qname)) return 'unproven';
    const wildcard = wildcardBelow(closestEncloser(qname, gap));
    const wildcardGap = wildcard === null ? undefined : this.gapAt(wildcard);
    return wildcardGap !== undefined && !isBelow(wildcardGap.next, wildcard!) ? 'proven' : 'unproven';
  }

  noData(qname: Name, type: number): Proof {
    const own = this.isWithout(qname, type);
    if (own !== undefined) return own ? 'proven' : 'unproven';
    const gap = this.gapAt(qname);
    const wildcard = gap === undefined ? null : wildcardBelow(closestEncloser(qname, gap));
    return wildcard !== null && this.isWithout(wildcard, type) === true ? 'proven' : 'unproven';
  }

  wildcardAnswer(qname: Name, encloserLabels: number): Proof {
    const gap = this.gapAt(qname);
    if (gap === undefined || isBelow(gap.next, qname)) return 'unproven';
    return isSame(closestEncloser(qname, gap), ancestor(qname, encloserLabels)) ? 'proven' : 'unproven';
  }

  delegation(name: Name): Delegation {
    const own = this.at(name);
    if (own !== undefined) {
      if (own.types.has(RRType.DS) || own.types.has(RRType.SOA)) return 'unproven';
      return own.types.has(RRType.NS) ? 'unsigned' : 'none';
    }
    const gap = this.gapAt(name);
    if (gap === undefined) return 'unproven';
    return isBelow(gap.next, name) ? 'none' : 'nothing-below';
  }

  /** Whether an existing name has no records of the type; undefined if the records do not prove that it exists. */
  private isWithout(name: Name, type: number): boolean | undefined {
    const own = this.at(name);
    if (own !== undefined) return own.types.denies(type, isSame(name, ROOT));
    const gap = this.gapAt(name);
    // The next name is below this name, which is therefore an empty non-terminal.
    return gap !== undefined && isBelow(gap.next, name) ? true : undefined;
  }

  private at(name: Name): Nsec | undefined {
    return this.records.find((record) => isSame(record.owner, name));
  }

  /** The record that covers this name: its owner is before the name, and its next name after it. */
  private gapAt(name: Name): Nsec | undefined {
    return this.records.find((record) => covers(record, name));
  }
}

function covers({ owner, next, types }: Nsec, name: Name): boolean {
  if (compareNames(owner, name) >= 0) return false;
  // The next name of the last record in a zone is the apex.
  const isLast = compareNames(owner, next) >= 0;
  if (isLast ? !isBelow(name, next) : compareNames(name, next) >= 0) return false;
  return !(types.endsZone && isBelow(name, owner));
}

/** The longest existing ancestor of a covered name: an ancestor of the owner or of the next name. */
function closestEncloser(name: Name, { owner, next }: Nsec): Name {
  return ancestor(name, Math.max(commonLabels(name, owner), commonLabels(name, next)));
}
