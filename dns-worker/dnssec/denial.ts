/**
 * What authenticated denial of existence has to say to a validator, whichever records say it: NSEC
 * (`nsec.ts`) or NSEC3 (`nsec3.ts`). Both look only at records whose signatures were checked.
 */
import { RRType } from '../../shared/dns/iana.ts';
import type { SignedSet } from './answer-records.ts';
import type { Budget } from './budget.ts';
import type { Name } from './names.ts';
import { NsecDenial } from './nsec.ts';
import { Nsec3Denial } from './nsec3.ts';

/** `insecure`: the zone says that it leaves this unproven (opt-out), or proving it costs too much. */
export type Proof = 'proven' | 'insecure' | 'unproven';

/**
 * What the absence of a DS says of a name: another zone without keys begins there, none begins there, or
 * there is no such name and nothing below it.
 */
export type Delegation = 'unsigned' | 'none' | 'nothing-below' | 'unproven';

/** The denials that one zone has signed in one answer. */
export interface Denial {
  /** The name does not exist, and no wildcard stands in for it (NXDOMAIN). */
  nameError(qname: Name): Proof;
  /** The name exists, itself or by a wildcard, without records of this type. */
  noData(qname: Name, type: number): Proof;
  /** Nothing closer than the wildcard below the name of `encloserLabels` labels matches. */
  wildcardAnswer(qname: Name, encloserLabels: number): Proof;
  /** Why there is no DS. */
  delegation(name: Name): Delegation;
}

/** The denials in checked RRsets of one zone; null where they hold none. */
export function denialOf(sets: readonly SignedSet[], zone: Name, budget: Budget): Denial | null {
  const nsec = sets.filter((set) => set.type === RRType.NSEC);
  if (nsec.length > 0) return NsecDenial.read(nsec);
  const nsec3 = sets.filter((set) => set.type === RRType.NSEC3);
  return nsec3.length > 0 ? Nsec3Denial.read(nsec3, zone, budget) : null;
}
