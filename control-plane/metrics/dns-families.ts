/** Metrics of DNS itself: answers, their times, and what got none. */
import { answeredSlot, Counter, LATENCY_CLASSES } from '../../shared/memory/counters.ts';
import { PROTOCOL_NAMES, Protocol, QUERY_STATUS_NAMES } from '../../shared/query-log.ts';
import { type Family, family, type HistogramFamily, type Sample } from './family.ts';
import { THREAD_LABELS, type ThreadCounters } from './thread-counters.ts';

const MICROSECONDS = 1e6;
/** Upper bounds of the classes of response times but the last, seconds. */
const BOUNDS = Array.from({ length: LATENCY_CLASSES - 1 }, (_, index) => 2 ** index / MICROSECONDS);

/** Faults by the counter that has them. */
const FAULTS = {
  short_or_response: Counter.DROPPED_SHORT_OR_RESPONSE,
  format_error: Counter.FORMAT_ERRORS,
  not_implemented: Counter.NOT_IMPLEMENTED,
  internal_error: Counter.INTERNAL_ERRORS,
  miss_ring_full: Counter.UNRESOLVED_DROPPED,
  send_error: Counter.SEND_ERRORS,
  send_buffer_full: Counter.SEND_BUFFER_FULL,
  connection_refused: Counter.STREAMS_REFUSED,
  proxy_header: Counter.PROXY_HEADERS_REFUSED,
  tls_handshake: Counter.TLS_HANDSHAKES_FAILED,
} as const;

/** Families over the threads' counters. */
export function dnsFamilies(threads: readonly ThreadCounters[]): (Family | HistogramFamily)[] {
  return [
    family(
      'counter',
      'weir_dns_queries_total',
      'Answered queries by thread, protocol and status, as the query log names them',
      [...THREAD_LABELS, 'protocol', 'status'],
      () => threads.flatMap(answeredBy),
    ),
    responseTimes(threads),
    family(
      'counter',
      'weir_dns_faults_total',
      'Messages that could not be read, queries and connections that could not be taken on, and answers that could not be sent',
      [...THREAD_LABELS, 'reason'],
      () => threads.flatMap(faultsOf),
    ),
    family(
      'counter',
      'weir_dns_refused_clients_total',
      'Messages and connections of clients that may not ask (dns.allowed_clients, dns.blocked_clients)',
      THREAD_LABELS,
      () => threads.map(({ labels, slots }) => ({ labels, value: slots[Counter.REFUSED_CLIENTS]! })),
    ),
    family(
      'counter',
      'weir_dns_receive_batches_total',
      'System calls that received datagrams',
      THREAD_LABELS,
      () =>
        threads
          .filter(({ role }) => role === 'answer')
          .map(({ labels, slots }) => ({ labels, value: slots[Counter.RECEIVE_BATCHES]! })),
    ),
  ];
}

/** Answer threads answer over UDP only. */
function answeredBy({ role, labels, slots }: ThreadCounters): Sample[] {
  const protocols = role === 'answer' ? (['udp'] as const) : PROTOCOL_NAMES;
  return protocols.flatMap((protocol) =>
    QUERY_STATUS_NAMES.map((status, code) => ({
      labels: { ...labels, protocol, status },
      value: slots[answeredSlot(Protocol[protocol], code)]!,
    })),
  );
}

function responseTimes(threads: readonly ThreadCounters[]): HistogramFamily {
  return {
    type: 'histogram',
    name: 'weir_dns_response_seconds',
    help: 'Time from the arrival of a query until the kernel gets its answer',
    bounds: BOUNDS,
    read: () =>
      threads.map(({ labels, slots }) => ({
        labels,
        counts: [...slots.subarray(Counter.FIRST_LATENCY, Counter.FIRST_LATENCY + LATENCY_CLASSES)],
        sum: slots[Counter.RESPONSE_TIME_US]! / MICROSECONDS,
      })),
  };
}

function faultsOf({ labels, slots }: ThreadCounters): Sample[] {
  return Object.entries(FAULTS).map(([reason, slot]) => ({
    labels: { ...labels, reason },
    value: slots[slot]!,
  }));
}
