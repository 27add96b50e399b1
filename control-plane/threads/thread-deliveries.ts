/** Delivers snapshots and settings to all DNS threads of a node. */
import type { TrustAnchor } from '../../shared/dns/trust-anchors.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import type { GivenSettings, ThreadStart, WorkerSettings } from '../../shared/threads/messages.ts';
import { Delivery } from './delivery.ts';
import type { DeliveryParts, DeliveryThread } from './delivery.ts';
import type { NodeMemory } from './node-memory.ts';

export interface ThreadDeliveryParts extends Pick<
  DeliveryParts<unknown>,
  'threads' | 'events' | 'logger' | 'waitMs'
> {
  readonly memory: NodeMemory;
  readonly snapshot: SnapshotBuffers;
  readonly settings: WorkerSettings;
}

/** Delivers snapshots and settings. One per supervisor. */
export class ThreadDeliveries {
  private readonly memory: NodeMemory;
  private readonly snapshots: Delivery<SnapshotBuffers>;
  private readonly settings: Delivery<GivenSettings>;

  constructor({ memory, snapshot, settings, ...parts }: ThreadDeliveryParts) {
    this.memory = memory;
    this.snapshots = new Delivery<SnapshotBuffers>({
      ...parts,
      what: 'snapshot',
      first: snapshot,
      message: (next) => ({ type: 'snapshot', snapshot: next }),
    });
    this.settings = new Delivery<GivenSettings>({
      ...parts,
      what: 'settings',
      first: this.given(0, settings),
      message: (given) => ({ type: 'settings', given }),
    });
  }

  /** The values for a thread that starts now. */
  newest(): Pick<ThreadStart, 'given' | 'snapshot'> {
    return { given: this.settings.newest, snapshot: this.snapshots.newest };
  }

  /** See `Delivery.deliver`. */
  deliverSnapshot(snapshot: SnapshotBuffers): Promise<number> {
    return this.snapshots.deliver(snapshot);
  }

  /** Delivers settings, like `deliverSnapshot()`. */
  deliverSettings(settings: WorkerSettings): Promise<number> {
    return this.settings.deliver(this.given(this.settings.newest.version + 1, settings));
  }

  /** Replaces the trust anchors for threads that start later; false if DNSSEC validation is disabled. */
  trust(anchors: readonly TrustAnchor[]): boolean {
    const { newest } = this.settings;
    const { dnssec } = newest.settings;
    if (dnssec === null) return false;
    this.settings.newest = { ...newest, settings: { ...newest.settings, dnssec: { ...dnssec, anchors } } };
    return true;
  }

  /** Sends a thread the version that was published while it started. */
  catchUp(thread: DeliveryThread, what: 'snapshot' | 'settings'): void {
    if (what === 'snapshot') this.snapshots.catchUp(thread);
    else this.settings.catchUp(thread);
  }

  private given(version: number, settings: WorkerSettings): GivenSettings {
    return { version, settings, rateBuckets: this.memory.rateBucketsFor(settings.rateLimit.enabled) };
  }
}
