/**
 * What authenticated denial of existence has to say to a validator, whichever records say it. Who says it:
 * `nsec.ts` and `nsec3.ts`; which of them an answer has: `denial.ts`.
 */
import type { Name } from './names.ts';

/** `insecure`: the zone says that it leaves this unproven (opt-out), or proving it costs too much. */
export type Proof = 'proven' | 'insecure' | 'unproven';

/**
 * What the absence of a DS says of a name: another zone without keys begins there, none begins there, or
 * there is no such name and nothing below it.
 */
export type Delegation = 'unsigned' | 'none' | 'nothing-below' | 'unproven';

/** The denials that one zone has signed in one answer. */
export interface Denial {
  /** Nothing of it is evaluated: `insecure` then says nothing of a name, not even that it is this zone's. */
  readonly isTooCostly: boolean;
  /** The name does not exist, and no wildcard stands in for it (NXDOMAIN). */
  nameError(qname: Name): Proof;
  /** The name exists, itself or by a wildcard, without records of this type. */
  noData(qname: Name, type: number): Proof;
  /** Nothing closer than the wildcard below the name of `encloserLabels` labels matches. */
  wildcardAnswer(qname: Name, encloserLabels: number): Proof;
  /** Why there is no DS. */
  delegation(name: Name): Delegation;
}
