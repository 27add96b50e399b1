/**
 * Which peers send a PROXY header, according to `server.proxy_protocol_enabled` and `server.proxy_protocol_trusted`.
 */
import { networkContains, networkFromText } from './cidr.ts';
import type { Network } from './cidr.ts';

/** Whether a peer must, may or must not send a header. */
export type ProxyExpectation =
  /** Headers are not used. */
  | 'nothing'
  /** A header, then the client's bytes. */
  | 'header'
  /** The peer is a client, and a header from it is a forgery. */
  | 'no header';

/** The trusted load balancers. */
export class ProxySenders {
  private readonly isOn: boolean;
  private readonly networks: readonly Network[];

  /** `trusted`: networks as text; null = headers are not used, empty = every peer of a stream sends a header. */
  constructor(trusted: readonly string[] | null) {
    this.isOn = trusted !== null;
    this.networks = (trusted ?? []).flatMap((text) => networkFromText(text) ?? []);
  }

  /** The expectation for the peer of a stream, by its 16-byte address. */
  ofStream(address: Uint8Array): ProxyExpectation {
    if (!this.isOn) return 'nothing';
    return this.networks.length === 0 || this.hasNamed(address) ? 'header' : 'no header';
  }

  /** Whether the address at `at` is in a configured network, so that datagrams from it also begin with a header. */
  hasNamed(addresses: Uint8Array, at = 0): boolean {
    const { networks } = this;
    for (let i = 0; i < networks.length; i++) if (networkContains(networks[i]!, addresses, at)) return true;
    return false;
  }

  /** Whether no datagram begins with a header. */
  get hasNone(): boolean {
    return this.networks.length === 0;
  }
}
