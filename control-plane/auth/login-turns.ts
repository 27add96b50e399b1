/**
 * Lets the logins of one address take turns, so that each sees how the one before ended: many at once cannot
 * all slip below the limit of failures, and one address alone never fills the queue of those that hash.
 */
import { tooMany } from '../api/api-error.ts';

/** Logins of one address that wait or run; more are told to come back. */
const MAX_WAITING = 8;

interface Line {
  /** Settles, well, when the last in line is done. */
  last: Promise<void>;
  length: number;
}

/** One line an address. */
export class LoginTurns {
  private readonly lines = new Map<string, Line>();

  /** Runs `work` after all that came before it from `address`; 429 where too many wait. */
  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(address) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= MAX_WAITING) throw tooMany('busy', 'too many logins at once', 2);
    this.lines.set(address, line);
    line.length++;
    const own = line.last.then(work);
    line.last = own.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await own;
    } finally {
      if (--line.length === 0) this.lines.delete(address);
    }
  }
}
