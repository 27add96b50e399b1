/**
 * Runs the logins of one address one after another, so that each sees the result of the previous one: parallel logins
 * cannot bypass the limit of failures, and one address cannot fill the hashing queue.
 */
import { tooMany } from '../../api/api-error.ts';

/** Maximum number of waiting and running logins of one address; more get 429. */
const MAX_WAITING = 8;

interface Line {
  /** Resolves when the last queued login is done. */
  last: Promise<void>;
  length: number;
}

/** Queues of logins, one for each address. */
export class LoginTurns {
  private readonly lines = new Map<string, Line>();

  /** Runs `work` after all earlier work of `address`; 429 if too many wait. */
  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(address) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= MAX_WAITING) throw tooMany('busy', 'too many concurrent logins', 2);
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
