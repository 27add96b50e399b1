/** A day of queries for suites of the compatibility API: each status, some types, clients and upstreams. */
import { QUERY_STATUS_NAMES, QueryStatus } from '../../../shared/query-log.ts';
import { Rcode, RRType } from '../../../shared/dns/iana.ts';
import { logRow, type RowInWords, wireName } from './log-row.ts';

/** Addresses of the clients, the busiest first. */
export const CLIENTS = ['192.0.2.7', '192.0.2.8', '192.0.2.9'] as const;
const UPSTREAMS = ['udp://192.0.2.53', 'tls://dns.example.org@192.0.2.54'] as const;
const TYPES = [RRType.A, RRType.AAAA, RRType.HTTPS, RRType.CNAME, RRType.PTR, 65_280];
const RCODES = [Rcode.NOERROR, Rcode.NXDOMAIN, Rcode.SERVFAIL, Rcode.REFUSED, Rcode.NOTIMP, Rcode.FORMERR];
const MINUTE_MS = 60_000;

/** Rows of the last day before `nowMs`, and some that are older and do not count. */
export function loggedDay(nowMs: number): ReturnType<typeof logRow>[] {
  const rows: Partial<RowInWords>[] = [];
  for (const [at, name] of QUERY_STATUS_NAMES.entries())
    for (let i = 0; i <= at % 5; i++) {
      const isForwarded = ['ALLOWED', 'SERVFAIL', 'TIMEOUT', 'BLOCKED_CNAME'].includes(name);
      rows.push({
        timestampMs: nowMs - (at * 78 + i * 3) * MINUTE_MS - 1,
        status: QueryStatus[name],
        cached: name === 'CACHED' || name === 'STALE',
        qtype: TYPES[(at + i) % TYPES.length]!,
        rcode: RCODES[at % RCODES.length]!,
        qname: wireName(`${name.toLowerCase().replaceAll('_', '-')}-${String(i % 2)}.example.org`),
        client: Uint8Array.of(192, 0, 2, 7 + (at % 4 === 0 ? 0 : at % 3)),
        upstream: isForwarded ? UPSTREAMS[i % 2]! : null,
        responseTimeUs: 1000 * (i + 1),
      });
    }
  const older = [25, 30, 47].map((hours) => ({ timestampMs: nowMs - hours * 60 * MINUTE_MS }));
  return [...older, ...rows.reverse()]
    .sort((a, b) => a.timestampMs! - b.timestampMs!)
    .map((row) => logRow(row));
}
