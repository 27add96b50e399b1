/** Metrics of DNS itself: answers, their response times, and dropped queries. */
import {
  ANSWER_SOURCES,
  answeredSlot,
  COUNTED_TYPES,
  dnssecSlot,
  LATENCY_CLASSES,
  LIMIT_REASONS,
  limitSlot,
  OTHER_RCODE_SLOT,
  rcodeSlot,
  timeSlot,
  typeSlot,
} from '../../shared/memory/answer-counters.ts';
import { Rcode, RRType } from '../../shared/dns/iana.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { DNSSEC_STATUS_NAMES, PROTOCOL_NAMES, Protocol, QUERY_STATUS_NAMES } from '../../shared/query-log.ts';
import { type Family, family, type HistogramFamily, type Sample } from './family.ts';
import { THREAD_LABELS, type ThreadCounters } from './thread-counters.ts';

const MICROSECONDS = 1e6;
/** Upper bounds of all response time classes except the last, in seconds. */
export const TIME_BOUNDS = Array.from(
  { length: LATENCY_CLASSES - 1 },
  (_, index) => 2 ** index / MICROSECONDS,
);

/** Counters of invalid and dropped queries, by reason. */
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

/** Families of the threads' counters. */
export function dnsFamilies(threads: readonly ThreadCounters[]): (Family | HistogramFamily)[] {
  return [
    family(
      'counter',
      'weir_dns_queries_total',
      'Answered queries by thread, protocol and status, with the names of the query log',
      [...THREAD_LABELS, 'protocol', 'status'],
      () => threads.flatMap(answeredBy),
    ),
    responseTimes(threads),
    summed(
      'responses',
      'Answers by response code; NODATA is NOERROR without an answer record',
      'rcode',
      threads,
      [
        ...Object.entries(Rcode).map(([name, code]) => [name, rcodeSlot(code, 1)] as const),
        ['NODATA', rcodeSlot(Rcode.NOERROR, 0)],
        ['other', rcodeSlot(OTHER_RCODE_SLOT, 1)],
      ],
    ),
    summed('questions', 'Answered queries by type', 'type', threads, [
      ...COUNTED_TYPES.map((name) => [name, typeSlot(RRType[name])] as const),
      ['other', typeSlot(0)],
    ]),
    summed(
      'validations',
      'Answers by DNSSEC status; bogus answers are replaced with SERVFAIL',
      'status',
      threads,
      DNSSEC_STATUS_NAMES.map((name, code) => [name, dnssecSlot(code)] as const),
    ),
    summed(
      'rate_limited',
      'Queries over a limit of dns.rate_limit (also in a dry run), by what the limit counts',
      'reason',
      threads,
      LIMIT_REASONS.map((name, place) => [name, limitSlot(place + 1)] as const),
    ),
    summed(
      'excluded',
      'Queries that are not logged, not counted in statistics, or neither, because of their client or domain',
      'from',
      threads,
      [
        ['log', Counter.EXCLUDED_FROM_LOG],
        ['statistics', Counter.EXCLUDED_FROM_STATS],
        ['both', Counter.EXCLUDED_FROM_BOTH],
      ],
    ),
    family(
      'counter',
      'weir_dns_faults_total',
      'Messages that could not be read, queries and connections that were rejected, and answers that could not be sent',
      [...THREAD_LABELS, 'reason'],
      () => threads.flatMap(faultsOf),
    ),
    family(
      'counter',
      'weir_dns_refused_clients_total',
      'Messages and connections of clients that may not query this server (dns.allowed_clients, dns.blocked_clients)',
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

/** Numbers of answered queries of a thread. Answer threads use only UDP. */
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
    help: 'Time from the arrival of a query until the kernel gets its answer, by the source of the answer',
    bounds: TIME_BOUNDS,
    read: () =>
      ANSWER_SOURCES.map((name, source) => {
        const first = timeSlot(source);
        return {
          labels: { source: name },
          counts: Array.from({ length: LATENCY_CLASSES }, (_, index) => sumOf(threads, first + 1 + index)),
          sum: sumOf(threads, first) / MICROSECONDS,
        };
      }),
  };
}

/** A counter that is summed over all threads, with a value for each slot. */
function summed(
  name: string,
  help: string,
  label: string,
  threads: readonly ThreadCounters[],
  slots: readonly (readonly [string, number])[],
): Family {
  return family('counter', `weir_dns_${name}_total`, help, [label], () =>
    slots.map(([value, slot]) => ({ labels: { [label]: value }, value: sumOf(threads, slot) })),
  );
}

function sumOf(threads: readonly ThreadCounters[], slot: number): number {
  return threads.reduce((sum, { slots }) => sum + slots[slot]!, 0);
}

function faultsOf({ labels, slots }: ThreadCounters): Sample[] {
  return Object.entries(FAULTS).map(([reason, slot]) => ({
    labels: { ...labels, reason },
    value: slots[slot]!,
  }));
}
