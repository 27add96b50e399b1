/**
 * Questions in flight, so that identical ones are asked once however many clients wait: it saves work and denies a
 * forger the many simultaneous chances of a birthday attack (RFC 5452 section 5).
 */
import type { Logger } from '../../shared/log.ts';
import { errorDetail } from './transport/exchange.ts';

/** Distinct questions in flight; each holds sockets. */
const MAX_QUESTIONS = 16_384;
/** Waiters in all, Weir's own questions included; and waiters per question. */
const MAX_WAITERS = 65_536;
const MAX_WAITERS_OF_ONE = 8192;

/** The table; `R` is the result for the waiters. */
export class InFlight<R> {
  private readonly waiting = new Map<string, ((result: R) => void)[]>();
  private readonly logger: Logger;
  private waiters = 0;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Distinct questions under way. */
  get questions(): number {
    return this.waiting.size;
  }

  /** Whether one more may wait for the question with this key. */
  admits(key: string): boolean {
    const waiting = this.waiting.get(key);
    if (this.waiters >= MAX_WAITERS) return false;
    return waiting === undefined ? this.waiting.size < MAX_QUESTIONS : waiting.length < MAX_WAITERS_OF_ONE;
  }

  /** Adds a waiter; true for the first, which must ensure that `settle` is called. */
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

  /** Calls all waiters; an error of one is logged and does not affect the others. */
  settle(key: string, result: R): void {
    const waiters = this.waiting.get(key);
    if (waiters === undefined) return;
    this.waiting.delete(key);
    this.waiters -= waiters.length;
    for (const waiter of waiters) {
      try {
        waiter(result);
      } catch (error) {
        this.logger.error('notify a waiting query failed', { error: errorDetail(error) });
      }
    }
  }

  /** The keys of all questions in flight, to settle them at the end. */
  keys(): readonly string[] {
    return [...this.waiting.keys()];
  }
}
