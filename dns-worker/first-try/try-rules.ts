/** Which questions get a first try, and which replies settle them. */
import { RRClass, Rcode } from '../../shared/dns/iana.ts';
import { MissFlags } from '../../shared/memory/miss-ring.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import type { Query } from '../query/query.ts';
import type { UsedMarks } from '../resolve/capability/hardening.ts';
import type { ResponseReading } from '../resolve/response/response-reader.ts';
import { isDefinitive } from '../resolve/transport/attempt.ts';
import type { FirstServer } from './first-servers.ts';

/** Whether the first try supports all parts of a question. */
export function isSimple({ partition, zoneIndex, aliasLength, ecsLength, qclass, isOwn }: Query): boolean {
  return (
    partition === POOLS_PARTITION &&
    zoneIndex < 0 &&
    aliasLength === 0 &&
    ecsLength === 0 &&
    qclass === RRClass.IN &&
    !isOwn
  );
}

/** Flag that describes a reply without a result to the resolver. */
export function outcomeOf(reading: ResponseReading): number {
  if (reading.kind === 'truncated') return MissFlags.TRUNCATED;
  return reading.kind === 'answer' && reading.answer.rcode === Rcode.SERVFAIL ? MissFlags.SERVFAIL : 0;
}

/** Whether a response code settles a question, and is not due to an extension of the query (cookie, mixed case). */
export function isSettled(rcode: number, { hardening }: FirstServer, marks: UsedMarks | null): boolean {
  if (!isDefinitive(rcode)) return false;
  const isCaseUsed = marks?.features.includes('case') === true;
  return !(rcode === Rcode.NXDOMAIN && isCaseUsed && !hardening.isEarned('case'));
}
