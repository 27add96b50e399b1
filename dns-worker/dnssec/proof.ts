/**
 * The interface of authenticated denial of existence, implemented by `nsec.ts` and `nsec3.ts`; `denial.ts` chooses
 * between them.
 */
import type { Name } from './names.ts';

/** `insecure`: the zone leaves this unproven (opt-out), or the proof costs too much. */
export type Proof = 'proven' | 'insecure' | 'unproven';

/**
 * Meaning of the absence of a DS for a name: an unsigned zone begins there, no zone begins there, or the name and
 * everything below it do not exist.
 */
export type Delegation = 'unsigned' | 'none' | 'nothing-below' | 'unproven';

/** The denials that one zone has signed in one answer. */
export interface Denial {
  /**
   * The records are not evaluated: `insecure` then proves nothing about a name, not even that it belongs to this zone.
   */
  readonly isTooCostly: boolean;
  /** The name does not exist, and no wildcard stands in for it (NXDOMAIN). */
  nameError(qname: Name): Proof;
  /** The name exists, itself or by a wildcard, without records of this type. */
  noData(qname: Name, type: number): Proof;
  /** Nothing closer than the wildcard below the name of `encloserLabels` labels matches. */
  wildcardAnswer(qname: Name, encloserLabels: number): Proof;
  /** Reason why there is no DS. */
  delegation(name: Name): Delegation;
}
