/**
 * What validating one question may cost (CVE-2023-50387 KeyTrap, CVE-2023-50868 NSEC3 floods): a zone can ask
 * for any amount of work, so the amount is fixed here, for the question as a whole, chains of trust included.
 */

/** Keys of one tag and algorithm that are tried for a signature or a DS. */
export const MAX_COLLIDING_KEYS = 4;
/** Iterations beyond which NSEC3 is not evaluated and the zone insecure (RFC 9276 section 3.2). */
export const MAX_NSEC3_ITERATIONS = 50;

const MAX_FAILED_SIGNATURES = 16;
const MAX_SIGNATURES = 128;
const MAX_SUBQUERIES = 30;
/** SHA-1 computations: 64 names of most iterations. */
const MAX_NSEC3_ROUNDS = 64 * (MAX_NSEC3_ITERATIONS + 1);
const MAX_DIGESTS = 32;

/** Counts down; each method spends one and says whether there was one left. */
export class Budget {
  /** `Clock.monotonicMs` after which nothing more is begun. */
  readonly deadlineMs: number;
  /** As in `Question`. */
  readonly network: string | undefined;
  /** A question could not be asked for want of room here: what is not known then may well be known soon. */
  isShort = false;
  private failedSignatures = MAX_FAILED_SIGNATURES;
  private signatures = MAX_SIGNATURES;
  private subqueries = MAX_SUBQUERIES;
  private nsec3Rounds = MAX_NSEC3_ROUNDS;
  private digests = MAX_DIGESTS;

  constructor(deadlineMs: number, network?: string) {
    this.deadlineMs = deadlineMs;
    this.network = network;
  }

  /** A question for DS or DNSKEY records. */
  spendSubquery(nowMs: number): boolean {
    return nowMs < this.deadlineMs && this.subqueries-- > 0;
  }

  /** A signature that is to be checked; false too once too many have failed. */
  spendSignature(): boolean {
    return this.failedSignatures > 0 && this.signatures-- > 0;
  }

  /** Notes that a signature was not that of the key. */
  noteFailedSignature(): void {
    this.failedSignatures--;
  }

  /** An NSEC3 hash of so many computations of SHA-1. */
  spendHash(rounds: number): boolean {
    this.nsec3Rounds -= rounds;
    return this.nsec3Rounds >= 0;
  }

  /** A DS digest. */
  spendDigest(): boolean {
    return this.digests-- > 0;
  }

  /** Whether the crypto allowance ran out: what was not proven then is not for want of data. */
  get isSpent(): boolean {
    return this.failedSignatures <= 0 || this.signatures < 0 || this.nsec3Rounds < 0 || this.digests < 0;
  }
}
