/**
 * Questions in flight. Identical questions are sent once for all waiting clients: this saves work, and prevents an
 * attacker from guessing the ids of many identical queries at the same time (birthday attack, RFC 5452 section 5).
 */
import type { Logger } from '../../shared/log.ts';
import { errorDetail } from './transport/exchange.ts';

/** Maximum number of distinct questions in flight; each uses sockets. */
const MAX_QUESTIONS = 16_384;
/** Maximum number of waiters in total, including those of Weir's own questions, and per question. */
const MAX_WAITERS = 65_536;
const MAX_WAITERS_OF_ONE = 8192;

/** The table; `R` is the result that waiters get. */
export class InFlight<R> {
  private readonly waiting = new Map<string, ((result: R) => void)[]>();
  private readonly logger: Logger;
  private waiters = 0;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Number of distinct questions in flight. */
  get questions(): number {
    return this.waiting.size;
  }

  /** Whether another waiter may join the question with this key. */
  admits(key: string): boolean {
    const waiting = this.waiting.get(key);
    if (this.waiters >= MAX_WAITERS) return false;
    return waiting === undefined ? this.waiting.size < MAX_QUESTIONS : waiting.length < MAX_WAITERS_OF_ONE;
  }

  /** Adds a waiter; true for the first waiter, whose caller must ensure that `settle` is called. */
  join(key: string, waiter: (result: R) => void): boolean {
    this.waiters++;
    const others = this.waiting.get(key);
    if (others !== undefined) {
      others.push(waiter);
      return false;
    }
    this.waiting.set(key, [waiter]);
    return true;
  }

  /** Calls all waiters; if one throws, the error is logged and the others are still called. */
  settle(key: string, result: R): void {
    const waiters = this.waiting.get(key);
    if (waiters === undefined) return;
    this.waiting.delete(key);
    this.waiters -= waiters.length;
    for (const waiter of waiters) {
      try {
        waiter(result);
      } catch (error) {
        this.logger.error('could not hand the result to a waiting query', { error: errorDetail(error) });
      }
    }
  }

  /** The keys of all questions in flight, to settle them on close. */
  keys(): readonly string[] {
    return [...this.waiting.keys()];
  }
}
