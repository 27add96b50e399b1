/** A day of queries for suites of the compatibility API: every status, and several types, clients and upstreams. */
import {
  isBlockedStatus,
  QUERY_STATUS_NAMES,
  QueryStatus,
  type QueryStatusName,
} from '../../../shared/query-log.ts';
import { Rcode, RRType } from '../../../shared/dns/iana.ts';
import { logRow, type RowInWords, wireName } from './log-row.ts';

/** Addresses of the clients, the busiest first. */
export const CLIENTS = ['192.0.2.7', '192.0.2.8', '192.0.2.9'] as const;
const UPSTREAMS = ['udp://192.0.2.53', 'tls://dns.example.org@192.0.2.54'] as const;
const TYPES = [RRType.A, RRType.AAAA, RRType.HTTPS, RRType.CNAME, RRType.PTR, 65_280];
const RCODES = [Rcode.NOERROR, Rcode.NXDOMAIN, Rcode.SERVFAIL, Rcode.REFUSED, Rcode.NOTIMP, Rcode.FORMERR];
const ANSWER_TYPES = [0, RRType.A, RRType.CNAME, RRType.TXT, RRType.PTR, RRType.DNSKEY, 0xffff];
const MINUTE_MS = 60_000;

/** Rows of the last 24 hours before `nowMs`, and some older rows that must not count. */
export function loggedDay(nowMs: number): ReturnType<typeof logRow>[] {
  const rows: Partial<RowInWords>[] = [];
  for (const [at, name] of QUERY_STATUS_NAMES.entries())
    for (let i = 0; i <= at % 5; i++) {
      const isForwarded = ['ALLOWED', 'SERVFAIL', 'TIMEOUT', 'BLOCKED_CNAME'].includes(name);
      const isCached = name === 'CACHED' || name === 'STALE';
      rows.push({
        timestampMs: nowMs - (at * 78 + i * 3) * MINUTE_MS - 1,
        status: QueryStatus[name],
        cached: isCached,
        qtype: TYPES[(at + i) % TYPES.length]!,
        rcode: RCODES[at % RCODES.length]!,
        qname: wireName(nameOf(name, i)),
        client: Uint8Array.of(192, 0, 2, 7 + (at % 4 === 0 ? 0 : at % 3)),
        // The row of a cached answer names the server that the answer came from.
        upstream: isForwarded || isCached ? UPSTREAMS[i % 2]! : null,
        ...decisionOf(name, i, rows.length),
        responseTimeUs: 1000 * (i + 1),
      });
    }
  const older = [25, 30, 47].map((hours) => ({ timestampMs: nowMs - hours * 60 * MINUTE_MS }));
  return [...older, ...rows.reverse()]
    .sort((a, b) => a.timestampMs! - b.timestampMs!)
    .map((row) => logRow(row));
}

function nameOf(status: QueryStatusName, i: number): string {
  if (status === 'BLOCKED_PTR') return `${i % 2}.0.168.192.in-addr.arpa`;
  return `${status.toLowerCase().replaceAll('_', '-')}-${String(i % 2)}.example.org`;
}

/** Answer kinds, extended errors and origins, in rotation. */
function decisionOf(
  status: QueryStatusName,
  i: number,
  turn: number,
): Pick<RowInWords, 'answerType' | 'extendedError' | 'origin'> {
  const answerType = ANSWER_TYPES[turn % ANSWER_TYPES.length]!;
  const isNamed = status === 'BLOCKED_CNAME' || status === 'LOCAL';
  const extendedError = isBlockedStatus(QueryStatus[status]) ? 15 : -1;
  const cnameOrigin = status === 'BLOCKED_CNAME' ? ([null, 'managed', 'regex'] as const)[i % 3]! : null;
  return {
    answerType: isNamed ? RRType.A : answerType,
    extendedError,
    origin: status === 'LOCAL' && i === 1 ? 'canary' : cnameOrigin,
  };
}
