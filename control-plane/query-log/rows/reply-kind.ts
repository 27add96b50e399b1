/**
 * Kinds of replies as counted by Pi-hole FTL: by the code of a failure, else by the first record of the answer. Pure.
 */
import type { CompatReply } from '../../../shared/api/compat/compat-api.ts';
import { Rcode, RRType } from '../../../shared/dns/iana.ts';

const KIND_OF_RCODE: ReadonlyMap<number, CompatReply> = new Map([
  [Rcode.NXDOMAIN, 'NXDOMAIN'],
  [Rcode.SERVFAIL, 'SERVFAIL'],
  [Rcode.REFUSED, 'REFUSED'],
  [Rcode.NOTIMP, 'NOTIMP'],
]);

/** Types that FTL shows as text; it counts all others as binary data. */
const KIND_OF_TYPE: ReadonlyMap<number, CompatReply> = new Map([
  [0, 'NODATA'],
  [RRType.CNAME, 'CNAME'],
  [RRType.A, 'IP'],
  [RRType.AAAA, 'IP'],
  [RRType.PTR, 'DOMAIN'],
  [RRType.DS, 'DNSSEC'],
  [RRType.DNSKEY, 'DNSSEC'],
]);

/** The kind of a reply; `answerType` is that of its first record, 0 = none, undefined = unknown. */
export function replyKindOf(rcode: number, answerType: number | undefined): CompatReply {
  if (rcode !== Rcode.NOERROR) return KIND_OF_RCODE.get(rcode) ?? 'OTHER';
  if (answerType === undefined) return 'UNKNOWN';
  return KIND_OF_TYPE.get(answerType) ?? 'BLOB';
}
