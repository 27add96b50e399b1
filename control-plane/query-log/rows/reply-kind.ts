/**
 * Kinds of replies as counted by Pi-hole FTL: by the RCODE of a failure or, for other replies, by the first record of
 * the answer. Pure.
 */
import type { CompatReply } from '../../../shared/api/compat/compat-api.ts';
import { Rcode, RRType } from '../../../shared/dns/iana.ts';

const KIND_OF_RCODE: ReadonlyMap<number, CompatReply> = new Map([
  [Rcode.NXDOMAIN, 'NXDOMAIN'],
  [Rcode.SERVFAIL, 'SERVFAIL'],
  [Rcode.REFUSED, 'REFUSED'],
  [Rcode.NOTIMP, 'NOTIMP'],
]);

/** Kinds of the record types that FTL knows; it counts all other types as binary data. */
const KIND_OF_TYPE: ReadonlyMap<number, CompatReply> = new Map([
  [0, 'NODATA'],
  [RRType.CNAME, 'CNAME'],
  [RRType.A, 'IP'],
  [RRType.AAAA, 'IP'],
  [RRType.PTR, 'DOMAIN'],
  [RRType.DS, 'DNSSEC'],
  [RRType.DNSKEY, 'DNSSEC'],
]);

/** The kind of a reply; `answerType` is the type of its first record: 0 = no record, undefined = unknown. */
export function replyKindOf(rcode: number, answerType: number | undefined): CompatReply {
  if (rcode !== Rcode.NOERROR) return KIND_OF_RCODE.get(rcode) ?? 'OTHER';
  if (answerType === undefined) return 'UNKNOWN';
  return KIND_OF_TYPE.get(answerType) ?? 'BLOB';
}
