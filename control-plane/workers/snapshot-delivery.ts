/**
 * Brings the newest snapshot to every DNS thread, and waits until all answer from it. `supervisor.ts` has the threads;
 * none of both interprets snapshots.
 */
import type { Logger } from '../../shared/log.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import type { DnsThread } from './dns-thread.ts';
import type { Events } from './events.ts';

/**
 * Longest wait for all threads to take a snapshot, milliseconds: more than it takes to find a hang and to replace the
 * thread, so that a change waits for the replacement. It delays the next snapshot no longer than that.
 */
const WAIT_MS = 6000;

/** A thread as far as it takes snapshots. */
export type SnapshotTaker = Pick<DnsThread, 'versionInForce' | 'post'>;

/** What a delivery needs. */
export interface DeliveryParts {
  /** What the first threads start with. */
  readonly first: SnapshotBuffers;
  /** The threads there are now. */
  readonly threads: () => readonly SnapshotTaker[];
  /** Told of every confirmation, and of every thread that ends. */
  readonly events: Events;
  readonly logger: Logger;
  readonly waitMs: number | undefined;
}

/** Delivers snapshots to the threads of a node. */
export class SnapshotDelivery {
  /** What a thread that starts now begins with. */
  newest: SnapshotBuffers;
  private readonly parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.parts = parts;
    this.newest = parts.first;
  }

  /**
   * Gives every thread a snapshot and waits until all answer from it, `waitMs` at most; resolves with the number of
   * threads that do not yet. It stays queued for them; a replacement starts with it.
   */
  async deliver(snapshot: SnapshotBuffers): Promise<number> {
    const { threads, events, logger, waitMs = WAIT_MS } = this.parts;
    this.newest = snapshot;
    for (const thread of threads()) thread.post({ type: 'snapshot', snapshot });
    const countBehind = (): number =>
      threads().filter((thread) => thread.versionInForce < snapshot.version).length;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs).unref();
    });
    await Promise.race([events.until(() => countBehind() === 0), late]);
    clearTimeout(timer);
    const behind = countBehind();
    if (behind > 0)
      logger.warn('publish snapshot: threads did not confirm it in time', {
        version: snapshot.version,
        threads: behind,
      });
    return behind;
  }

  /** Gives a thread what was published while it started. */
  catchUp(thread: SnapshotTaker): void {
    if (thread.versionInForce < this.newest.version) thread.post({ type: 'snapshot', snapshot: this.newest });
  }
}
