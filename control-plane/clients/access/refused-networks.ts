/**
 * Records networks of refused clients since the start, from samples that the threads report. The number of networks is
 * limited, because the source addresses of a flood may be forged. If there are too many, one is evicted: among those
 * whose last refusal is longest ago, the network with the fewest queries.
 */
import { accessNetwork } from './access-network.ts';
import type { RefusedNetworkReport } from './access-reports.ts';

const MAX_NETWORKS = 1000;
/** Number of networks that are considered for eviction. */
const CANDIDATES = 64;

/** Networks of refused clients. One per node. */
export class RefusedNetworks {
  /** Reports by network; the network with the latest refusal is last. */
  private readonly byNetwork = new Map<string, RefusedNetworkReport>();

  /** Counts refused queries for the network of an address. */
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

  /** All refused networks. */
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
