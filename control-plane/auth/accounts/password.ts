/**
 * Passwords as Argon2id hashes (RFC 9106), and the only importer of argon2. A hash costs memory and a core for some ten
 * milliseconds, so few run at once and a bounded number waits: a flood of logins gets 429, and the rest of the node
 * keeps its cores.
 */
import argon2 from 'argon2';
import { tooMany } from '../../api/api-error.ts';

/** Cost of new hashes: 32 MiB and three passes on one lane; above what OWASP asks for (19 MiB, two). */
const COST = { memoryCost: 32 * 1024, timeCost: 3, parallelism: 1 } as const;
const MAX_RUNNING = 2;
const MAX_WAITING = 32;

/** A hash of `password` in the PHC string format (`$argon2id$…`). */
export function hashPassword(password: string): Promise<string> {
  return gate.run(() => argon2.hash(password, { type: argon2.argon2id, ...COST }));
}

/** Whether `password` matches `hash`; also false if `hash` is no Argon2 hash. */
export function verifyPassword(hash: string, password: string): Promise<boolean> {
  return gate.run(async () => {
    if (!hash.startsWith('$argon2')) return false;
    try {
      return await argon2.verify(hash, password);
    } catch {
      // The package throws on damaged hashes, which match nothing.
      return false;
    }
  });
}

/** Runs a few at once, queues some, and refuses the rest with 429. */
class Gate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= MAX_RUNNING) {
      if (this.waiting.length >= MAX_WAITING) throw tooMany('busy', 'too many logins at once', 2);
      // The next one takes over the place, so `running` stays.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else {
      this.running++;
    }
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }
}

const gate = new Gate();
