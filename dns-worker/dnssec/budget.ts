/**
 * Limits the cost of validating one question (CVE-2023-50387 KeyTrap, CVE-2023-50868 NSEC3 floods): a zone can demand
 * any amount of work, so the amount is fixed here for the whole question, chains of trust included.
 */

/** Keys of one tag and algorithm that are tried for a signature or a DS. */
export const MAX_COLLIDING_KEYS = 4;
/** Iterations beyond which NSEC3 is not evaluated and the zone is insecure (RFC 9276 section 3.2). */
export const MAX_NSEC3_ITERATIONS = 50;

interface Limits {
  readonly failedSignatures: number;
  readonly signatures: number;
  /** Questions for DS or DNSKEY records. */
  readonly subqueries: number;
  /** SHA-1 computations. */
  readonly nsec3Rounds: number;
  /** DS digests. */
  readonly digests: number;
}

const LIMITS: Limits = {
  failedSignatures: 16,
  signatures: 128,
  subqueries: 30,
  /** 64 names of most iterations. */
  nsec3Rounds: 64 * (MAX_NSEC3_ITERATIONS + 1),
  digests: 32,
};
/** Where clients wait for the thread: about what eight P-256 signatures cost. */
const AT_ONCE: Limits = { failedSignatures: 1, signatures: 8, subqueries: 0, nsec3Rounds: 200, digests: 0 };

const NONE: ReadonlySet<number> = new Set();

/** Counts down; each method spends one unit and returns whether one was left. */
export class Budget {
  /** `Clock.monotonicMs` after which no new work starts. */
  readonly deadlineMs: number;
  /** Network of the client, see `Question`. */
  readonly network: string | undefined;
  /** Whether nothing may be waited for: signatures are verified in place or not at all. */
  readonly isAtOnce: boolean;
  /** A question could not be asked for lack of resources; a later attempt may succeed. */
  isShort = false;
  /** Servers whose records did not hold, as in `Question`: the other ones are asked first from then on. */
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

  /** The budget of an answer that is proven at once or left to another thread. */
  static atOnce(): Budget {
    return new Budget(0, undefined, AT_ONCE);
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
    return this.failedSignatures < this.limits.failedSignatures;
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

  /** Signatures that were checked. */
  get spentSignatures(): number {
    return this.limits.signatures - Math.max(0, this.signatures);
  }

  /** The share that is spent of what is spent most; 1 = all of what a question may spend. */
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

  /** Whether the crypto allowance ran out, so that a missing proof is not for lack of data. */
  get isSpent(): boolean {
    return this.failedSignatures <= 0 || this.signatures < 0 || this.nsec3Rounds < 0 || this.digests < 0;
  }
}
