/**
 * Groups whose clients must not get IPv6 addresses, as in networks with broken IPv6: queries for AAAA get NODATA
 * (`noIpv6Stage`), and HTTPS and SVCB answers lose their `ipv6hint` (RFC 9460 section 7.3). Local records outrank this
 * stage.
 */
import { Rcode, RRType } from '../../shared/dns/iana.ts';
import { Record, readU16, skipName, writeU16 } from '../../shared/dns/wire.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import type { PolicyTable } from '../../shared/snapshot/policy-table.ts';
import { AddressHint, nextAddressHint, SVC_PARAM_HEAD } from '../cache/chain-names.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { answerNegative } from '../respond/block-answer.ts';
import { finishReply } from '../respond/reply.ts';

const POINTER = 0xc000;

/** Answers a query for AAAA from a group without IPv6. */
export function noIpv6Stage(query: Query, policy: PolicyTable): StageResultCode {
  if (query.qtype !== RRType.AAAA) return StageResult.CONTINUE;
  query.status = QueryStatus.LOCAL;
  answerNegative(query, Rcode.NOERROR, policy.blockingTtlSecs);
  return StageResult.ANSWERED;
}

/** Removes IPv6 hints, and the authority section, from the finished reply in the slot. */
export function removeIpv6Hints(query: Query): void {
  if (query.qtype !== RRType.HTTPS && query.qtype !== RRType.SVCB) return;
  const lengthBefore = query.answersLength;
  let at = query.at + query.answersAt;
  for (let left = query.answersCount; left > 0; left--) {
    const fields = skipName(query.bytes, at, endOfAnswers(query));
    if (fields < 0 || fields + Record.RDATA > endOfAnswers(query)) return;
    const type = readU16(query.bytes, fields + Record.TYPE);
    if (type === RRType.HTTPS || type === RRType.SVCB) removeHint(query, fields, left - 1);
    at = fields + Record.RDATA + readU16(query.bytes, fields + Record.RDLENGTH);
  }
  if (query.answersLength === lengthBefore) return;
  query.authorityCount = 0;
  finishReply(query, query.rcode, query.answersAt + query.answersLength);
}

/** Removes the hint from one record; `following` is the number of records after it. */
function removeHint(query: Query, fields: number, following: number): void {
  const { bytes } = query;
  const rdata = fields + Record.RDATA;
  const end = rdata + readU16(bytes, fields + Record.RDLENGTH);
  let hint = nextAddressHint(bytes, rdata, end, 0);
  while (hint > 0 && readU16(bytes, hint) !== AddressHint.IPV6)
    hint = nextAddressHint(bytes, rdata, end, hint);
  if (hint <= 0) return;
  const size = SVC_PARAM_HEAD + readU16(bytes, hint + 2);
  bytes.copyWithin(hint, hint + size, endOfAnswers(query));
  writeU16(bytes, fields + Record.RDLENGTH, end - rdata - size);
  query.answersLength -= size;
  movePointers(query, end - size, following, hint - query.at, size);
}

/** Corrects the compression pointers, in the records from `at` on, that refer to names after the removed bytes. */
function movePointers(query: Query, at: number, records: number, cutAt: number, size: number): void {
  const { bytes } = query;
  let next = at;
  for (let left = records; left > 0; left--) {
    movePointer(bytes, next, cutAt, size);
    const fields = skipName(bytes, next, endOfAnswers(query));
    if (fields < 0) return;
    const type = readU16(bytes, fields + Record.TYPE);
    if (type === RRType.CNAME || type === RRType.DNAME)
      movePointer(bytes, fields + Record.RDATA, cutAt, size);
    next = fields + Record.RDATA + readU16(bytes, fields + Record.RDLENGTH);
  }
}

/** Corrects the pointer at the end of a name, if there is one. */
function movePointer(bytes: Uint8Array, nameAt: number, cutAt: number, size: number): void {
  let at = nameAt;
  while (bytes[at]! > 0 && bytes[at]! < POINTER >>> 8) at += bytes[at]! + 1;
  const offset = readU16(bytes, at) ^ POINTER;
  if (bytes[at]! !== 0 && offset > cutAt) writeU16(bytes, at, POINTER | (offset - size));
}

function endOfAnswers({ at, answersAt, answersLength }: Query): number {
  return at + answersAt + answersLength;
}
