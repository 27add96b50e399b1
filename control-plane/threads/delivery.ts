/**
 * Delivers the newest version of a value (a snapshot or settings) to every DNS thread, and waits until all threads use
 * it. `supervisor.ts` owns the threads; neither module interprets the value.
 */
import type { Logger } from '../../shared/log.ts';
import type { ToWorker } from '../../shared/threads/messages.ts';
import type { DnsThread } from './dns-thread.ts';
import type { Events } from './events.ts';

/**
 * Maximum milliseconds to wait until all threads have applied a delivery. It is longer than it takes to detect that a
 * thread hangs and to replace the thread, so that a change waits for the replacement. A delivery delays the next one by
 * at most this time.
 */
const WAIT_MS = 6000;

/** The part of a thread that deliveries use. */
export type DeliveryThread = Pick<DnsThread, 'active' | 'post'>;

export interface DeliveryParts<T> {
  readonly what: keyof DeliveryThread['active'];
  /** Value with which the first threads start. */
  readonly first: T;
  readonly message: (given: T) => ToWorker;
  /** The current threads. */
  readonly threads: () => readonly DeliveryThread[];
  /** Events that report every confirmation and the end of every thread. */
  readonly events: Events;
  readonly logger: Logger;
  readonly waitMs: number | undefined;
}

/** Delivers one kind of value to the threads of a node. */
export class Delivery<T extends { readonly version: number }> {
  /** The value for threads that start now. */
  newest: T;
  private readonly parts: DeliveryParts<T>;

  constructor(parts: DeliveryParts<T>) {
    this.parts = parts;
    this.newest = parts.first;
  }

  /**
   * Sends the next version to every thread and waits, for at most `waitMs`, until all use it; resolves with the number
   * of threads that do not use it yet. The version stays queued for these threads; a replacement thread starts with it.
   */
  async deliver(next: T): Promise<number> {
    const { what, message, threads, events, logger, waitMs = WAIT_MS } = this.parts;
    this.newest = next;
    for (const thread of threads()) thread.post(message(next));
    const countBehind = (): number => threads().filter((thread) => thread.active[what] < next.version).length;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs).unref();
    });
    await Promise.race([events.until(() => countBehind() === 0), late]);
    clearTimeout(timer);
    const behind = countBehind();
    if (behind > 0)
      logger.warn(`threads did not confirm the ${what} in time`, {
        version: next.version,
        threads: behind,
      });
    return behind;
  }

  /** Sends a thread the version that was published while it started. */
  catchUp(thread: DeliveryThread): void {
    if (thread.active[this.parts.what] < this.newest.version) thread.post(this.parts.message(this.newest));
  }
}
