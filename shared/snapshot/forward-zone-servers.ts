/** Forward zones in the form that threads use: which servers to ask for which names, and the cache partition. */
import type { UpstreamSettings } from '../policy/upstream-settings.ts';

/** Partition of the cache for the answers of the pools; each forward zone has its own partition. */
export const POOLS_PARTITION = 0;

/**
 * Upstream numbers (index plus one, as in log records and the cache) at or above this number belong to servers of
 * forward zones, lower numbers to the pools.
 */
export const FIRST_ZONE_UPSTREAM = 0x8000;

/** One definition of a forward zone. */
export interface ForwardZone {
  /** Name of the zone and of its pool, as shown to users. */
  readonly zone: string;
  /** The names of the zone, which cover all their subdomains; lower-case wire form. */
  readonly names: readonly Uint8Array[];
  /** Cache partition of the zone, 1..65535; another definition of the same zone has another partition. */
  readonly partition: number;
  /** Servers that are asked at the same time; empty = this server answers for the zone. */
  readonly servers: readonly UpstreamSettings[];
  /** Upstream number of each server. */
  readonly upstreamNumbers: readonly number[];
}
