/**
 * Questions under way, so that identical ones are asked once however many clients wait: it saves work and
 * denies a forger the many simultaneous chances of a birthday attack (RFC 5452 section 5).
 */
import type { Logger } from '../../shared/log.ts';
import { errorDetail } from './transport/exchange.ts';

/** Distinct questions under way; each holds sockets. */
const MAX_QUESTIONS = 16_384;
/** Those who wait for them, Weir's own questions included; and those who wait for one of them. */
const MAX_WAITERS = 65_536;
const MAX_WAITERS_OF_ONE = 8192;

/** The table; `R` is what the waiters are told. */
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

  /** Adds a waiter; true when it is the first, who must see to it that `settle` is called. */
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

  /** Tells everyone who waits; a waiter that throws is logged and keeps no one from being told. */
  settle(key: string, result: R): void {
    const waiters = this.waiting.get(key);
    if (waiters === undefined) return;
    this.waiting.delete(key);
    this.waiters -= waiters.length;
    for (const waiter of waiters) {
      try {
        waiter(result);
      } catch (error) {
        this.logger.error('tell a waiting query its answer failed', { error: errorDetail(error) });
      }
    }
  }

  /** The keys of all questions under way, to settle them at the end. */
  keys(): readonly string[] {
    return [...this.waiting.keys()];
  }
}
