/**
 * Limits the cost of validating one question (CVE-2023-50387 KeyTrap, CVE-2023-50868 NSEC3 floods): a zone can demand
 * any amount of work, so the amount is fixed here for the whole question, chains of trust included.
 */

/** Keys of one tag and algorithm that are tried for a signature or a DS. */
export const MAX_COLLIDING_KEYS = 4;
/** Iterations beyond which NSEC3 is not evaluated and the zone is insecure (RFC 9276 section 3.2). */
export const MAX_NSEC3_ITERATIONS = 50;

const MAX_FAILED_SIGNATURES = 16;
const MAX_SIGNATURES = 128;
const MAX_SUBQUERIES = 30;
/** SHA-1 computations: 64 names of most iterations. */
const MAX_NSEC3_ROUNDS = 64 * (MAX_NSEC3_ITERATIONS + 1);
const MAX_DIGESTS = 32;

const NONE: ReadonlySet<number> = new Set();

/** Counts down; each method spends one unit and returns whether one was left. */
export class Budget {
  /** `Clock.monotonicMs` after which no new work starts. */
  readonly deadlineMs: number;
  /** As in `Question`. */
  readonly network: string | undefined;
  /** A question could not be asked for lack of resources; a later attempt may succeed. */
  isShort = false;
  /** Servers whose records did not hold, as in `Question`: the other ones are asked first from then on. */
  avoided: ReadonlySet<number> = NONE;
  private failedSignatures = MAX_FAILED_SIGNATURES;
  private signatures = MAX_SIGNATURES;
  private subqueries = MAX_SUBQUERIES;
  private nsec3Rounds = MAX_NSEC3_ROUNDS;
  private digests = MAX_DIGESTS;

  constructor(deadlineMs: number, network?: string) {
    this.deadlineMs = deadlineMs;
    this.network = network;
  }

  /** Avoids a server; false if it was avoided already, so that no other one is left to ask. */
  avoid(upstream: number): boolean {
    if (this.avoided.has(upstream)) return false;
    this.avoided = new Set([...this.avoided, upstream]);
    return true;
  }

  /** Spends a question for DS or DNSKEY records. */
  spendSubquery(nowMs: number): boolean {
    return nowMs < this.deadlineMs && this.subqueries-- > 0;
  }

  /** Spends the check of a signature; also false once too many have failed. */
  spendSignature(): boolean {
    return this.failedSignatures > 0 && this.signatures-- > 0;
  }

  /** Whether a key did not make a signature that it seemed to have made. */
  get hasFailure(): boolean {
    return this.failedSignatures < MAX_FAILED_SIGNATURES;
  }

  /** Records a signature that the key did not make. */
  noteFailedSignature(): void {
    this.failedSignatures--;
  }

  /** Spends an NSEC3 hash of `computations` SHA-1 computations. */
  spendHash(rounds: number): boolean {
    this.nsec3Rounds -= rounds;
    return this.nsec3Rounds >= 0;
  }

  /** A DS digest. */
  spendDigest(): boolean {
    return this.digests-- > 0;
  }

  /** The share that is spent of what is spent most; 1 = all of it. */
  get spentShare(): number {
    const left = Math.min(
      this.subqueries / MAX_SUBQUERIES,
      this.failedSignatures / MAX_FAILED_SIGNATURES,
      this.signatures / MAX_SIGNATURES,
      this.nsec3Rounds / MAX_NSEC3_ROUNDS,
      this.digests / MAX_DIGESTS,
    );
    return 1 - left;
  }

  /** Whether the crypto allowance ran out, so that a missing proof is not for lack of data. */
  get isSpent(): boolean {
    return this.failedSignatures <= 0 || this.signatures < 0 || this.nsec3Rounds < 0 || this.digests < 0;
  }
}
