/**
 * Limits the TLS handshakes per second of a listener, in total and per client network (an IPv4 address, an IPv6 /64),
 * because a handshake costs as much as about a hundred queries.
 */
import { addressWord, isMappedIpv4 } from '../../shared/net/ip.ts';

/** Maximum number of handshakes per second, in total and per client network. */
export const MAX_HANDSHAKES_PER_SECOND = 600;
export const MAX_PER_NETWORK = 60;

/** Counts the handshakes of one listener. */
export class HandshakeLimit {
  private second = 0;
  private begun = 0;
  /** Handshakes in this second by address; the total limit also bounds the number of entries. */
  private readonly begunOf = new Map<string, number>();

  /** Counts a handshake from this address (16 bytes); false, without counting, if a limit is reached. */
  admits(address: Uint8Array, monotonicMs: number): boolean {
    const second = Math.floor(monotonicMs / 1000);
    if (second !== this.second) {
      this.second = second;
      this.begun = 0;
      this.begunOf.clear();
    }
    const network = networkOf(address);
    const ofNetwork = this.begunOf.get(network) ?? 0;
    if (this.begun >= MAX_HANDSHAKES_PER_SECOND || ofNetwork >= MAX_PER_NETWORK) return false;
    this.begun++;
    this.begunOf.set(network, ofNetwork + 1);
    return true;
  }
}

function networkOf(address: Uint8Array): string {
  if (isMappedIpv4(address)) return String(addressWord(address, 12));
  return `${addressWord(address, 0)} ${addressWord(address, 4)}`;
}
