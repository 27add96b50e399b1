/**
 * Networks of clients that were refused since the start, as the threads sample them. Bounded: the senders of a flood may
 * be forged and of any network, so that of those that were refused longest ago the one with the fewest queries goes.
 */
import { accessNetwork } from './access-network.ts';
import type { RefusedNetworkReport } from './access-reports.ts';

const MAX_NETWORKS = 1000;
/** Among so many the one that goes is chosen. */
const CANDIDATES = 64;

/** One per node. */
export class RefusedNetworks {
  /** The last refused last. */
  private readonly byNetwork = new Map<string, RefusedNetworkReport>();

  /** Notes so many refused queries of the network of an address. */
  note(lastClient: string, queries: number, nowMs: number): void {
    const network = accessNetwork(lastClient);
    const before = this.byNetwork.get(network);
    this.byNetwork.delete(network);
    if (this.byNetwork.size >= MAX_NETWORKS) this.evict();
    this.byNetwork.set(network, {
      network,
      lastClient,
      firstMs: before?.firstMs ?? nowMs,
      lastMs: nowMs,
      count: (before?.count ?? 0) + queries,
    });
  }

  /** All of them. */
  all(): RefusedNetworkReport[] {
    return [...this.byNetwork.values()];
  }

  private evict(): void {
    let fewest: RefusedNetworkReport | undefined;
    for (const report of this.byNetwork.values().take(CANDIDATES))
      if (fewest === undefined || report.count < fewest.count) fewest = report;
    if (fewest !== undefined) this.byNetwork.delete(fewest.network);
  }
}
