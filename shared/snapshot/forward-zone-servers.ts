/** Conditional forward zones as the threads use them: which servers to ask for which names, and the cache partition. */
import type { UpstreamSettings } from '../policy/upstream-settings.ts';

/** Partition of the cache that holds the answers of the pools; each forward zone has a separate one. */
export const POOLS_PARTITION = 0;

/**
 * Upstream numbers (index plus one, as in log records and the cache) from here on are of servers of forward
 * zones; those below are of the pools.
 */
export const FIRST_ZONE_UPSTREAM = 0x8000;

/** One definition of a forward zone. */
export interface ForwardZone {
  /** Name of the zone as shown to users, and of its pool. */
  readonly zone: string;
  /** The names that it stands for, with all names below them; folded wire form. */
  readonly names: readonly Uint8Array[];
  /** 1..65535; another definition of the same zone has another one. */
  readonly partition: number;
  /** Asked at the same time; none = the zone is answered here. */
  readonly servers: readonly UpstreamSettings[];
  /** Upstream number of each server. */
  readonly upstreamNumbers: readonly number[];
}
