/**
 * Datagrams from load balancers that put a PROXY header before each query, as dnsdist does: removes the header, and
 * uses the client address in the header as the sender. The reply goes to the load balancer, without a header.
 */
import { Counter } from '../../shared/memory/counters.ts';
import { ADDRESS_SIZE } from '../../shared/net/ip.ts';
import { ProxyHeader, ProxyOutcome } from '../../shared/net/proxy-header.ts';
import type { Reporter } from '../report/reporter.ts';
import type { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { SLOT_SIZE } from './udp-batch.ts';
import type { UdpBatch } from './udp-batch.ts';

/** Removes PROXY headers. Each thread has one. */
export class ProxiedDatagrams {
  private readonly senders: ProxySenders;
  private readonly reporter: Pick<Reporter, 'count'>;
  private readonly header = new ProxyHeader();

  constructor(senders: ProxySenders, reporter: Pick<Reporter, 'count'>) {
    this.senders = senders;
    this.reporter = reporter;
  }

  /**
   * Removes headers from the datagrams of a batch; a datagram that lacks a required header becomes empty, and is
   * therefore dropped.
   */
  takeHeaders(batch: UdpBatch, count: number): void {
    const { senders, header } = this;
    if (senders.hasNone) return;
    const { slots, clients } = batch;
    for (let slot = 0; slot < count; slot++) {
      const clientAt = slot * ADDRESS_SIZE;
      if (!senders.hasNamed(clients, clientAt)) continue;
      const at = slot * SLOT_SIZE;
      const length = batch.lengthOf(slot);
      if (header.read(slots, at, at + length) !== ProxyOutcome.OK) {
        this.reporter.count(Counter.PROXY_HEADERS_REFUSED);
        batch.dropHead(slot, length);
        continue;
      }
      if (header.hasSource) for (let i = 0; i < ADDRESS_SIZE; i++) clients[clientAt + i] = header.source[i]!;
      batch.dropHead(slot, header.length);
    }
  }

  /** Removes the header of a datagram; null if a required header is missing or malformed. */
  takeHeader(message: Uint8Array, sender: Uint8Array): { message: Uint8Array; client: Uint8Array } | null {
    const { senders, header } = this;
    if (!senders.hasNamed(sender)) return { message, client: sender };
    if (header.read(message, 0, message.length) !== ProxyOutcome.OK) {
      this.reporter.count(Counter.PROXY_HEADERS_REFUSED);
      return null;
    }
    const client = header.hasSource ? header.source.slice() : sender;
    return { message: message.subarray(header.length), client };
  }
}
