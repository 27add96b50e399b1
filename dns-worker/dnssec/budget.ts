/**
 * Limits the cost of validating one question (CVE-2023-50387 KeyTrap, CVE-2023-50868 NSEC3 floods). A zone can demand
 * any amount of work, so these limits apply to the whole question, including its chains of trust.
 */

/** Maximum number of keys with one tag and algorithm that are tried for a signature or a DS. */
export const MAX_COLLIDING_KEYS = 4;
/** Maximum number of NSEC3 iterations; with more, the zone is insecure (RFC 9276 section 3.2). */
export const MAX_NSEC3_ITERATIONS = 50;

interface Limits {
  readonly failedSignatures: number;
  readonly signatures: number;
  /** Maximum number of queries for DS or DNSKEY records. */
  readonly subqueries: number;
  /** Maximum number of SHA-1 computations. */
  readonly nsec3Rounds: number;
  /** Maximum number of DS digests. */
  readonly digests: number;
}

const LIMITS: Limits = {
  failedSignatures: 16,
  signatures: 128,
  subqueries: 30,
  /** 64 names with the maximum number of iterations. */
  nsec3Rounds: 64 * (MAX_NSEC3_ITERATIONS + 1),
  digests: 32,
};
/** Limits for answer threads, which must not delay other clients: about the cost of eight P-256 signatures. */
const AT_ONCE: Limits = { failedSignatures: 1, signatures: 8, subqueries: 0, nsec3Rounds: 200, digests: 0 };

const NONE: ReadonlySet<number> = new Set();

/** The remaining allowance; each `spend` method uses one unit and returns whether a unit was available. */
export class Budget {
  /** `Clock.monotonicMs` after which no new work starts. */
  readonly deadlineMs: number;
  /** The client's network, see `Question`. */
  readonly network: string | undefined;
  /** Whether validation must not wait: signatures are verified in place or not at all. */
  readonly isAtOnce: boolean;
  /** Whether a query could not be sent for lack of resources; a later attempt may succeed. */
  isShort = false;
  /** Servers whose records failed validation, as in `Question`: other servers are tried first. */
  avoided: ReadonlySet<number> = NONE;
  private readonly limits: Limits;
  private failedSignatures: number;
  private signatures: number;
  private subqueries: number;
  private nsec3Rounds: number;
  private digests: number;

  constructor(deadlineMs: number, network?: string, limits = LIMITS) {
    this.deadlineMs = deadlineMs;
    this.network = network;
    this.isAtOnce = limits === AT_ONCE;
    this.limits = limits;
    this.failedSignatures = limits.failedSignatures;
    this.signatures = limits.signatures;
    this.subqueries = limits.subqueries;
    this.nsec3Rounds = limits.nsec3Rounds;
    this.digests = limits.digests;
  }

  /** Budget for an answer that is either proven at once or passed to another thread. */
  static atOnce(): Budget {
    return new Budget(0, undefined, AT_ONCE);
  }

  /** Avoids a server; false if it was already avoided, which means that no other server is left. */
  avoid(upstream: number): boolean {
    if (this.avoided.has(upstream)) return false;
    this.avoided = new Set([...this.avoided, upstream]);
    return true;
  }

  /** Spends one query for DS or DNSKEY records. */
  spendSubquery(nowMs: number): boolean {
    return nowMs < this.deadlineMs && this.subqueries-- > 0;
  }

  /** Spends one signature check; also false after too many failures. */
  spendSignature(): boolean {
    return this.failedSignatures > 0 && this.signatures-- > 0;
  }

  /** Whether a signature failed although its key tag and algorithm matched a key. */
  get hasFailure(): boolean {
    return this.failedSignatures < this.limits.failedSignatures;
  }

  /** Records a failed signature check. */
  noteFailedSignature(): void {
    this.failedSignatures--;
  }

  /** Spends an NSEC3 hash of `rounds` SHA-1 computations. */
  spendHash(rounds: number): boolean {
    this.nsec3Rounds -= rounds;
    return this.nsec3Rounds >= 0;
  }

  /** Spends a DS digest. */
  spendDigest(): boolean {
    return this.digests-- > 0;
  }

  /** Number of signatures checked. */
  get spentSignatures(): number {
    return this.limits.signatures - Math.max(0, this.signatures);
  }

  /** Spent share of the most used allowance; 1 = an allowance is used up. */
  get spentShare(): number {
    const { limits } = this;
    return Math.max(
      (limits.subqueries - this.subqueries) / LIMITS.subqueries,
      (limits.failedSignatures - this.failedSignatures) / LIMITS.failedSignatures,
      (limits.signatures - this.signatures) / LIMITS.signatures,
      (limits.nsec3Rounds - this.nsec3Rounds) / LIMITS.nsec3Rounds,
      (limits.digests - this.digests) / LIMITS.digests,
    );
  }

  /**
   * Whether an allowance for cryptographic work ran out, so that a missing proof may be due to the budget and not to
   * missing data.
   */
  get isSpent(): boolean {
    return this.failedSignatures <= 0 || this.signatures < 0 || this.nsec3Rounds < 0 || this.digests < 0;
  }
}
