/** Forward zones in the form that threads use: which servers to query for which names, and the cache partition. */
import type { UpstreamSettings } from '../policy/upstream-settings.ts';

/** Partition of the cache for the answers of the pools; each forward zone has its own partition. */
export const POOLS_PARTITION = 0;

/**
 * Upstream numbers (index plus one, as in log records and the cache) from this number on belong to servers of forward
 * zones, lower numbers to servers of the pools.
 */
export const FIRST_ZONE_UPSTREAM = 0x8000;

/** One definition of a forward zone. */
export interface ForwardZone {
  /** Name of the zone and of its pool, as shown to users. */
  readonly zone: string;
  /** The names of the zone, which cover all their subdomains; lower-case wire form. */
  readonly names: readonly Uint8Array[];
  /** Cache partition of the zone, 1..65535; a changed definition of the same zone gets a new partition. */
  readonly partition: number;
  /** Servers that are queried at the same time; empty = this server answers for the zone. */
  readonly servers: readonly UpstreamSettings[];
  /** Upstream number of each server. */
  readonly upstreamNumbers: readonly number[];
}
