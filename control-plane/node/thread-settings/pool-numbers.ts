/**
 * Assigns numbers to the servers of all pools of a run of the process, so that log records and the cache can refer to
 * servers even after the pools have changed.
 */
import type { PoolSettings } from '../../../shared/policy/upstream-settings.ts';
import { FIRST_ZONE_UPSTREAM } from '../../../shared/snapshot/forward-zone-servers.ts';

/** Assigns the numbers. One per node. */
export class PoolNumbers {
  private readonly numbers = new Map<string, number>();
  /** Addresses of servers, by number. */
  private readonly addresses: string[] = [];
  private readonly onNumber: ((number: number, address: string) => void) | undefined;

  /** `onNumber` is called for each new number, before the pools that contain it are returned. */
  constructor(onNumber?: (number: number, address: string) => void) {
    this.onNumber = onNumber;
  }

  /** The pools, with a number assigned to each server. */
  number(pools: readonly PoolSettings[]): PoolSettings[] {
    return pools.map((pool) => ({
      ...pool,
      servers: pool.servers.map((server) => ({ ...server, number: this.of(server.address) })),
    }));
  }

  /** The configured text of a server; undefined for an unused number. */
  addressOf(number: number): string | undefined {
    return this.addresses[number];
  }

  private of(address: string): number {
    const known = this.numbers.get(address);
    if (known !== undefined) return known;
    // If all numbers are used, further servers share the last number below the numbers of zones.
    const number = Math.min(this.numbers.size, FIRST_ZONE_UPSTREAM - 2);
    this.numbers.set(address, number);
    if (number === this.addresses.length) {
      this.addresses.push(address);
      this.onNumber?.(number, address);
    }
    return number;
  }
}
