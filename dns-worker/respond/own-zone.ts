/**
 * Answers for names of forward zones without servers: a name without local records does not exist, and is never
 * forwarded.
 */
import { Rcode } from '../../shared/dns/iana.ts';
import { FlagsHigh, Header } from '../../shared/dns/wire.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { answerNegative } from './block-answer.ts';
import { isBelow } from './local-zones.ts';

/** Negative TTL of names that users configure, in seconds: short, so that changes are visible soon. */
export const OWN_NEGATIVE_TTL_SECS = 60;

/** Whether the query's forward zone has no servers. */
export function isInOwnZone({ zoneIndex }: Query, { zones }: OpenSnapshot): boolean {
  return zoneIndex >= 0 && zones[zoneIndex]!.servers.length === 0;
}

/** Answers NXDOMAIN, or NODATA for a name with local records at the name or below it (RFC 8020). */
export function answerInOwnZone(query: Query, { zones, local }: OpenSnapshot): StageResultCode {
  const { qname, qnameLength, hashLow, hashHigh } = query;
  const node = local.nodeCount === 0 ? 0 : local.find(hashLow[0]!, hashHigh[0]!, qname, 0, qnameLength);
  query.status = QueryStatus.LOCAL;
  query.replyFlags = FlagsHigh.AA;
  const rcode = node === 0 ? Rcode.NXDOMAIN : Rcode.NOERROR;
  answerNegative(query, rcode, OWN_NEGATIVE_TTL_SECS, apexOffset(query, zones[query.zoneIndex]!.names));
  return StageResult.ANSWERED;
}

/** The zone that answers, for explanations. */
export function ownZoneDetail(query: Query, snapshot: OpenSnapshot): string | undefined {
  return isInOwnZone(query, snapshot) ? `zone ${snapshot.zones[query.zoneIndex]!.zone}` : undefined;
}

/** Offset of the zone's name in the message: the end of the qname. */
function apexOffset(query: Query, names: readonly Uint8Array[]): number {
  for (let i = 0; i < names.length; i++)
    if (isBelow(query, names[i]!)) return Header.SIZE + query.qnameLength - names[i]!.length;
  return Header.SIZE;
}
