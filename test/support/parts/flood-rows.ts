/** Queries of a flood for tests: rate-limited queries from a few client networks, and other queries. */
import fc from 'fast-check';
import type { QueryLogRow } from '../../../control-plane/query-log/rows/row.ts';
import type { NetworkPrefixes } from '../../../control-plane/query-log/store/limited-networks.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import {
  type DnssecStatusCode,
  type ProtocolCode,
  QueryStatus,
  type QueryStatusCode,
} from '../../../shared/query-log.ts';
import { logRow, wireName } from './log-row.ts';

/** Default prefix lengths of the configuration. */
export const PREFIXES: NetworkPrefixes = { ipv4PrefixLength: 24, ipv6PrefixLength: 56 };

/** Clients in three networks. */
export const FLOOD_CLIENTS = [
  ['192.0.2.1', '192.0.2.2', '192.0.2.200'],
  ['198.51.100.1', '198.51.100.77'],
  ['2001:db8:0:100::1', '2001:db8:0:1ff::2'],
] as const;

/** A query in the form of the test. */
export interface FloodQuery {
  readonly timeMs: number;
  readonly network: number;
  readonly client: string;
  readonly groupId: number;
  readonly name: string;
  readonly qtype: number;
  readonly status: QueryStatusCode;
  readonly rcode: number;
  readonly protocol: ProtocolCode;
  readonly dnssec: DnssecStatusCode;
  readonly responseTimeUs: number;
  readonly cached: boolean;
  readonly upstream: string | null;
}

/** A query at most `spanMs` after `fromMs`; two thirds of the queries are rate-limited. */
export function arbitraryFloodQuery(fromMs: number, spanMs: number): fc.Arbitrary<FloodQuery> {
  const client = fc
    .nat(FLOOD_CLIENTS.length - 1)
    .chain((network) =>
      fc.record({ network: fc.constant(network), client: fc.constantFrom(...FLOOD_CLIENTS[network]!) }),
    );
  const limited = { weight: 8, arbitrary: fc.constant(QueryStatus.RATE_LIMITED) };
  const others = fc.constantFrom(QueryStatus.CACHED, QueryStatus.BLOCKED_LIST, QueryStatus.REFUSED);
  return fc
    .record({
      at: client,
      timeMs: fc.nat(spanMs - 1).map((ms) => fromMs + ms),
      name: fc.nat(0xffff).map((number) => `n${number}.flood.test`),
      qtype: fc.constantFrom(1, 28, 65),
      status: fc.oneof(limited, { weight: 4, arbitrary: others }),
      rcode: fc.constantFrom(0, 3, 5),
      protocol: fc.constantFrom<ProtocolCode[]>(0, 1, 3),
      dnssec: fc.constantFrom<DnssecStatusCode[]>(0, 1),
      responseTimeUs: fc.nat(50_000),
      cached: fc.boolean(),
      upstream: fc.constantFrom(null, 'udp://192.0.2.53:53', 'tls://192.0.2.54:853'),
    })
    .map(({ at, ...query }) => ({ ...at, ...query, groupId: at.client.endsWith('2') ? 2 : 1 }));
}

/** A query of the flood as a row of the log. */
export function floodRow({ client, name, timeMs, network: _, ...numbers }: FloodQuery): QueryLogRow {
  const isBlocked = numbers.status === QueryStatus.BLOCKED_LIST;
  return logRow({
    ...numbers,
    timestampMs: timeMs,
    client: addressFromText(client)!,
    qname: wireName(name),
    ...(isBlocked ? { blockSource: 'ads', blockRule: '||flood.test^' } : {}),
  });
}

/** Number of rows in a block of these queries. */
export function rowsExpected(queries: readonly FloodQuery[]): number {
  const limited = queries.filter(({ status }) => status === QueryStatus.RATE_LIMITED);
  const seconds = new Set(limited.map(({ timeMs, network }) => `${Math.floor(timeMs / 1000)} ${network}`));
  return queries.length - limited.length + seconds.size;
}
