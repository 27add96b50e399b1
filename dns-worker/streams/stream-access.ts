/**
 * Decides which connections are accepted: those of allowed clients, and those of proxies, which send queries for other
 * clients.
 */
import { networkContains } from '../../shared/net/cidr.ts';
import type { Network } from '../../shared/net/cidr.ts';
import { isBlocked } from '../../shared/snapshot/client-table.ts';
import { mayAsk } from '../policy/may-ask.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';

/** Parts of the active snapshot that are needed here. */
type AccessSnapshot = Pick<OpenSnapshot, 'clients' | 'keys'>;

/** Decides on the connections of one thread. */
export class StreamAccess {
  private readonly snapshot: () => AccessSnapshot;
  private readonly proxies: readonly Network[];

  /** `proxies` may connect from anywhere: each of their queries names its client. */
  constructor(snapshot: () => AccessSnapshot, proxies: readonly Network[]) {
    this.snapshot = snapshot;
    this.proxies = proxies;
  }

  /** Whether a connection may be opened; with `mayHaveKey`, also if any key admits its client from everywhere. */
  mayConnect(address: Uint8Array, mayHaveKey: boolean): boolean {
    if (this.mayHandshake(address, '')) return true;
    const { clients, keys } = this.snapshot();
    return mayHaveKey && keys.admitsSome && !isBlocked(clients.findOf({ clientBytes: address, clientAt: 0 }));
  }

  /**
   * Whether the handshake of a connection with this key ('' = none) may begin; health checks of proxies are allowed.
   */
  mayHandshake(address: Uint8Array, clientKey: string): boolean {
    if (mayAsk({ clientBytes: address, clientAt: 0, clientKey }, this.snapshot())) return true;
    return this.proxies.some((network) => networkContains(network, address));
  }
}
