/** Memory shared by all DNS threads of a node, and its cleanup when one of them dies. */
import { randomInt } from 'node:crypto';
import { systemClock } from '../../shared/clock.ts';
import { releaseCacheLock } from '../../shared/memory/answer-cache-layout.ts';
import { createCapabilityTable } from '../../shared/memory/capability-table.ts';
import { createClaimTable, releaseClaims } from '../../shared/memory/claim-table.ts';
import { createConnectionTable, releaseConnections } from '../../shared/memory/connection-table.ts';
import { createOutcomeRings } from '../../shared/memory/outcome-rings.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { createSealedRecords } from '../../shared/memory/sealed-records.ts';
import type { ThreadRole, ThreadStart } from '../../shared/threads/messages.ts';
import { CookieKeys } from './cookie-keys.ts';

/** Memory of the node that is passed to every thread. */
type NodeBuffers = Pick<
  ThreadStart,
  'cache' | 'connections' | 'cookieKeys' | 'claims' | 'outcomes' | 'capabilities' | 'cuts'
>;

/** The threads of a worker; both query upstreams. */
const ROLES: readonly ThreadRole[] = ['resolve', 'answer'];
/** Number of possible hash seeds; seeds are random, so that clients cannot choose names that collide. */
const SEEDS = 2 ** 31;

/** The memory of one node. */
export class NodeMemory {
  readonly buffers: NodeBuffers;
  private readonly workers: number;
  private readonly cookieKeys: CookieKeys;
  private readonly rateSeed = randomInt(SEEDS);
  private rateBuckets: SharedArrayBuffer | undefined;
  private hasBuckets = false;

  /** `secret` must return the current cluster secret. */
  constructor(workers: number, cache: SharedArrayBuffer, secret: () => Uint8Array) {
    this.workers = workers;
    this.cookieKeys = new CookieKeys(secret);
    this.renewCookieKeys();
    this.buffers = {
      cache,
      connections: createConnectionTable(workers, randomInt(SEEDS)),
      cookieKeys: this.cookieKeys.memory,
      claims: createClaimTable(randomInt(SEEDS)),
      capabilities: createCapabilityTable(),
      outcomes: createOutcomeRings(ROLES.length * workers),
      cuts: createSealedRecords(workers),
    };
  }

  /** The memory of the rate limit; it contains buckets once the limit has been enabled. */
  rateBucketsFor(isLimited: boolean): SharedArrayBuffer {
    if (this.rateBuckets === undefined || (isLimited && !this.hasBuckets)) {
      // The seed is always the same, because it is also used to distinguish networks if there is no limit.
      this.rateBuckets = createRateBuckets(isLimited, this.rateSeed);
      this.hasBuckets = isLimited;
    }
    return this.rateBuckets;
  }

  /** Rotates the keys of DNS cookies; must be called every few seconds. */
  renewCookieKeys(): void {
    this.cookieKeys.keepUp(systemClock.nowMs() / 1000);
  }

  /** Index of a thread among all threads, see `asker` in `ThreadStart`. */
  askerOf(worker: number, role: ThreadRole): number {
    return ROLES.indexOf(role) * this.workers + worker;
  }

  /** Releases what a dead thread owned: the lock of the cache, connections and claims. */
  release(worker: number, role: ThreadRole): void {
    const { cache, connections, claims } = this.buffers;
    const asker = this.askerOf(worker, role);
    releaseCacheLock(cache, asker);
    releaseClaims(claims, asker);
    if (role === 'resolve') releaseConnections(connections, worker);
  }
}
