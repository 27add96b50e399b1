/**
 * The interface of authenticated denial of existence, implemented by `nsec.ts` and `nsec3.ts`; `denial.ts` chooses
 * between them.
 */
import type { Name } from './names.ts';

/** `insecure`: the zone cannot prove the denial (opt-out), or the proof costs too much. */
export type Proof = 'proven' | 'insecure' | 'unproven';

/**
 * Meaning of a missing DS for a name: an unsigned zone begins there, no zone begins there, or the name and everything
 * below it do not exist.
 */
export type Delegation = 'unsigned' | 'none' | 'nothing-below' | 'unproven';

/** The denial records that one zone has signed in one answer. */
export interface Denial {
  /**
   * Whether the records are too costly to evaluate: `insecure` then proves nothing about a name, not even that it
   * belongs to this zone.
   */
  readonly isTooCostly: boolean;
  /** Whether the name does not exist and no wildcard matches it (NXDOMAIN). */
  nameError(qname: Name): Proof;
  /** Whether the name exists, itself or by a wildcard, without records of this type. */
  noData(qname: Name, type: number): Proof;
  /**
   * Whether an answer from the wildcard below the encloser is correct: no closer match for the name exists. The
   * encloser is the last `encloserLabels` labels of the name.
   */
  wildcardAnswer(qname: Name, encloserLabels: number): Proof;
  /** Reason for the missing DS. */
  delegation(name: Name): Delegation;
}
