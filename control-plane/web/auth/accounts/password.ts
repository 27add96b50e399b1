/**
 * Passwords as Argon2id hashes (RFC 9106); the only importer of argon2, which is loaded with the first password. A hash
 * needs memory and about ten milliseconds of a core, so only a few run at the same time and a limited number waits: a
 * flood of logins gets 429, and the rest of the node keeps its cores.
 */
import { availableParallelism } from 'node:os';
import { tooMany } from '../../../api/api-error.ts';

/** Cost parameters of a hash. */
interface HashCost {
  /** KiB of memory. */
  readonly memoryCost: number;
  /** Number of passes. */
  readonly timeCost: number;
  readonly parallelism: number;
}

/** Cost of new hashes: 32 MiB and three passes on one lane; more than OWASP recommends (19 MiB, two). */
const COST = { memoryCost: 32 * 1024, timeCost: 3, parallelism: 1 } as const;
/** Two hashes on one core would only slow each other down. */
const MAX_RUNNING = Math.min(2, availableParallelism());
/** Limit for callers that have failed before, so that other callers are not blocked. */
const MAX_RUNNING_FAILED = Math.max(1, MAX_RUNNING - 1);
const MAX_WAITING = 32;

/** A hash of `password` in the PHC string format (`$argon2id$…`). */
export function hashPassword(password: string, cost: HashCost = COST): Promise<string> {
  return gate.run(0, async () => {
    const { argon2id, hash } = await import('argon2');
    return hash(password, { type: argon2id, ...cost });
  });
}

/** Hash function for passwords of accounts. Unrelated tests use a cheaper one. */
export interface PasswordHashing {
  readonly hash: (password: string) => Promise<string>;
  /**
   * Hash of a random password, with the cost of new hashes: logins that cannot succeed are checked against it, so that
   * they take as long as any other login.
   */
  readonly decoy: string;
}

/** The hash function of a node. */
export const PASSWORD_HASHING: PasswordHashing = {
  hash: (password) => hashPassword(password),
  decoy: '$argon2id$v=19$m=32768,p=1,t=3$WCjxm33yQ3raiyKRAqbLXA$WvW38jpzr+Ka6/ZnMwfO3trGFsCrDLkD3iRINB9tM1k',
};

/**
 * Whether `password` matches `hash`; false for a `hash` of another kind. If callers wait, the one with the lowest rank
 * is next.
 */
export function verifyPassword(hash: string, password: string, rank = 0): Promise<boolean> {
  return gate.run(rank, async () => {
    if (!hash.startsWith('$argon2')) return false;
    try {
      const { verify } = await import('argon2');
      return await verify(hash, password);
    } catch {
      // The package throws on damaged hashes, which match nothing.
      return false;
    }
  });
}

interface Waiter {
  readonly rank: number;
  readonly start: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Runs a few hashes at the same time, queues some, and refuses the rest with 429. The lowest rank goes first; among
 * equal ranks, the newest caller, so that a flood that is already queued does not delay others.
 */
class Gate {
  private running = 0;
  private runningFailed = 0;
  /** Waiting callers in descending order of their ranks; the last one is next. */
  private readonly waiting: Waiter[] = [];

  async run<T>(rank: number, work: () => Promise<T>): Promise<T> {
    const start = (step: 1 | -1): void => {
      this.running += step;
      if (rank > 0) this.runningFailed += step;
    };
    // A task that lets another one start reserves the slot for it.
    if (this.hasPlace(rank)) start(1);
    else await this.turn(rank, () => start(1));
    try {
      return await work();
    } finally {
      start(-1);
      const next = this.waiting.at(-1);
      if (next !== undefined && this.hasPlace(next.rank)) this.waiting.pop()!.start();
    }
  }

  private hasPlace(rank: number): boolean {
    return this.running < MAX_RUNNING && (rank <= 0 || this.runningFailed < MAX_RUNNING_FAILED);
  }

  private turn(rank: number, take: () => void): Promise<void> {
    return new Promise((resolve, refuse) => {
      const start = (): void => {
        take();
        resolve();
      };
      const before = this.waiting.findIndex((waiter) => waiter.rank < rank);
      this.waiting.splice(before === -1 ? this.waiting.length : before, 0, { rank, start, refuse });
      if (this.waiting.length > MAX_WAITING)
        this.waiting.shift()!.refuse(tooMany('busy', 'too many concurrent logins', 2));
    });
  }
}

const gate = new Gate();
