/** A row of the query log as the compatibility API shows it. Pure. */
import type { CompatReply } from '../../../shared/api/compat/compat-api.ts';
import type { CompatDnssec, CompatQuery } from '../../../shared/api/compat/compat-log-api.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { rrTypeCode } from '../../../shared/dns/iana.ts';
import type { DnssecStatusName } from '../../../shared/query-log.ts';
import { compatStatus, compatType, replyOfRcode } from './query-kinds.ts';
import { placeText, upstreamPlace } from './upstream-place.ts';

const DNSSEC_OF: Readonly<Record<DnssecStatusName, CompatDnssec>> = {
  unchecked: 'UNKNOWN',
  secure: 'SECURE',
  insecure: 'INSECURE',
  bogus: 'BOGUS',
  indeterminate: 'ABANDONED',
};

/** Kinds of answers by the type of their records; others are RRNAME. */
const REPLY_OF_TYPE: Readonly<Record<string, CompatReply>> = {
  A: 'IP',
  AAAA: 'IP',
  PTR: 'DOMAIN',
  HTTPS: 'BLOB',
  SVCB: 'BLOB',
  DS: 'DNSSEC',
  DNSKEY: 'DNSSEC',
  RRSIG: 'DNSSEC',
};

/** The row. */
export function compatQuery(row: LoggedQuery): CompatQuery {
  return {
    id: row.id,
    time: Date.parse(row.timestamp) / 1000,
    type: compatType(row.type) === 'OTHER' ? `TYPE${String(rrTypeCode(row.type))}` : row.type,
    status: compatStatus(row.status),
    dnssec: DNSSEC_OF[row.dnssec_status],
    domain: row.domain,
    upstream: row.upstream === null ? null : placeText(upstreamPlace(row.upstream)),
    reply: { type: replyOf(row), time: row.response_time_us / 1e6 },
    client: { ip: row.client, name: row.client_hostname },
    list_id: null,
    ede: { code: -1, text: null },
    cname: null,
    repeats: row.repeats,
  };
}

/** The state of DNSSEC in Weir's words; undefined for one that Weir does not have. */
export function dnssecOf(name: CompatDnssec): DnssecStatusName | undefined {
  const names = Object.keys(DNSSEC_OF) as DnssecStatusName[];
  return names.find((own) => DNSSEC_OF[own] === name);
}

/** What an answer held, as far as it is logged. */
function replyOf({ rcode, answers }: LoggedQuery): CompatReply {
  if (rcode !== 'NOERROR' || answers === null) return replyOfRcode(rcode);
  const types = answers.map(({ type }) => type);
  if (types.length === 0) return 'NODATA';
  if (types.includes('CNAME')) return 'CNAME';
  return REPLY_OF_TYPE[types[0]!] ?? 'RRNAME';
}
