/** Memory that all DNS threads of a node share, and what happens to it when one of them dies. */
import { randomInt } from 'node:crypto';
import { systemClock } from '../../shared/clock.ts';
import { releaseCacheLock } from '../../shared/memory/answer-cache-layout.ts';
import { createClaimTable, releaseClaims } from '../../shared/memory/claim-table.ts';
import { createConnectionTable, releaseConnections } from '../../shared/memory/connection-table.ts';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import type { ThreadStart } from '../../shared/threads/messages.ts';
import { CookieKeys } from './cookie-keys.ts';

/** As a thread is given it. */
type NodeBuffers = Pick<ThreadStart, 'cache' | 'rateBuckets' | 'connections' | 'cookieKeys' | 'claims'>;

/** Seeds of hashes, random, so that clients cannot choose names that collide. */
const SEEDS = 2 ** 31;

/** The memory of one node. */
export class NodeMemory {
  readonly buffers: NodeBuffers;
  private readonly cookieKeys = new CookieKeys();

  constructor(workers: number, cache: SharedArrayBuffer, isRateLimited: boolean) {
    this.renewCookieKeys();
    this.buffers = {
      cache,
      rateBuckets: createRateBuckets(isRateLimited, randomInt(SEEDS)),
      connections: createConnectionTable(workers, randomInt(SEEDS)),
      cookieKeys: this.cookieKeys.memory,
      // One worker has no other that might ask the same.
      claims: workers === 1 ? null : createClaimTable(randomInt(SEEDS)),
    };
  }

  /** Changes the keys of DNS cookies when their time has come; to be called every few seconds. */
  renewCookieKeys(): void {
    this.cookieKeys.keepUp(systemClock.nowMs() / 1000);
  }

  /** Ends what the resolve thread of a worker held when it died: the cache's lock, connections, questions. */
  release(worker: number): void {
    const { cache, connections, claims } = this.buffers;
    releaseCacheLock(cache, worker);
    releaseConnections(connections, worker);
    if (claims !== null) releaseClaims(claims, worker);
  }
}
