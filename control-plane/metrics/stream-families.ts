/** Metrics of stream connections: DNS over TCP, TLS and HTTPS. */
import { connectionBlocks, countConnections } from '../../shared/memory/connection-table.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { Protocol, PROTOCOL_NAMES } from '../../shared/query-log.ts';
import { type Family, family } from './family.ts';
import type { ThreadCounters } from './thread-counters.ts';

const WORKER = ['worker'] as const;

/** Families of the table of connections and of the resolve threads' counters. */
export function streamFamilies(threads: readonly ThreadCounters[], connections: SharedArrayBuffer): Family[] {
  const resolving = threads.filter(({ role }) => role === 'resolve');
  return [
    family(
      'gauge',
      'weir_dns_connections',
      'Open connections of clients by worker and protocol',
      [...WORKER, 'protocol'],
      () => connectionBlocks(connections).flatMap(openConnections),
    ),
    family(
      'counter',
      'weir_dns_tls_handshakes_total',
      'TLS handshakes started, for DNS over TLS and HTTPS',
      WORKER,
      () =>
        resolving.map(({ labels, slots }) => ({
          labels: { worker: labels['worker']! },
          value: slots[Counter.TLS_HANDSHAKES]!,
        })),
    ),
  ];
}

function openConnections(block: Int32Array, worker: number) {
  const counts = countConnections(block, PROTOCOL_NAMES.length);
  return PROTOCOL_NAMES.filter((protocol) => protocol !== 'udp').map((protocol) => ({
    labels: { worker: String(worker), protocol },
    value: counts[Protocol[protocol]]!,
  }));
}
