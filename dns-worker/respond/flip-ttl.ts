/**
 * Limits TTLs to the next change of the group's schedule and to the end of the deciding grant, so that clients do not
 * keep using cached answers after such a change.
 */
import { RRType } from '../../shared/dns/iana.ts';
import { Header, Record, readU16, readU32, skipName, writeU32 } from '../../shared/dns/wire.ts';
import type { PolicyTable } from '../../shared/snapshot/policy-table.ts';
import { NO_END_SECS } from '../../shared/snapshot/name-rules.ts';
import type { Query } from '../query/query.ts';

/** Changes after this many seconds do not limit TTLs, because few TTLs are longer. */
const HORIZON_SECS = 86_400;

/** Limits the TTLs of the reply in the slot to the seconds until the client's policy changes. */
export function capTtlsToFlip(query: Query, policy: PolicyTable): void {
  const { grantEndsAtSecs } = query;
  let flipAtSecs = policy.groupNextFlipAtSecs(query.groupIndex);
  if (
    grantEndsAtSecs !== 0 &&
    grantEndsAtSecs !== NO_END_SECS &&
    (flipAtSecs === 0 || grantEndsAtSecs < flipAtSecs)
  )
    flipAtSecs = grantEndsAtSecs;
  if (flipAtSecs === 0) return;
  // The current second is not counted, because part of it is over.
  const leftSecs = flipAtSecs - query.arrivedSecs - 1;
  if (leftSecs < HORIZON_SECS) capTtls(query, leftSecs < 0 ? 0 : leftSecs);
}

function capTtls(query: Query, maxSecs: number): void {
  const { bytes, at } = query;
  const end = at + query.replyLength;
  let left =
    readU16(bytes, at + Header.ANCOUNT) +
    readU16(bytes, at + Header.NSCOUNT) +
    readU16(bytes, at + Header.ARCOUNT);
  if (left === 0 || query.questionEnd === 0) return;
  let record = at + query.questionEnd;
  for (; left > 0; left--) {
    const fields = skipName(bytes, record, end);
    if (fields < 0 || fields + Record.RDATA > end) return;
    // OPT has no TTL (RFC 6891 section 6.1.3).
    if (readU16(bytes, fields + Record.TYPE) !== RRType.OPT && readU32(bytes, fields + Record.TTL) > maxSecs)
      writeU32(bytes, fields + Record.TTL, maxSecs);
    record = fields + Record.RDATA + readU16(bytes, fields + Record.RDLENGTH);
  }
}
