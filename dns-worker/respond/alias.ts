/**
 * CNAME records that this server creates, written in a row after the question; the resolve thread may resolve the last
 * target (`forward/alias-follower.ts`). Nothing allocates.
 */
import { RRClass, RRType } from '../../shared/dns/iana.ts';
import { Header, Record, writeU16, writeU32 } from '../../shared/dns/wire.ts';
import type { QueryStatusCode } from '../../shared/query-log.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { hasRoom } from './reply.ts';

const POINTER = 0xc000;
const POINTER_SIZE = 2;
/** Owner of the first record: the qname. */
export const QNAME_OFFSET = Header.SIZE;

/** Returned by `appendCname` if the record does not fit into the slot, so that nothing was written. */
export const NO_SPACE = 0;

/** Bytes that `appendCname` writes for a target of this length. */
function cnameSize(targetLength: number): number {
  return POINTER_SIZE + Record.RDATA + targetLength;
}

/**
 * Appends a CNAME whose owner is the name at `ownerOffset` of the message (`QNAME_OFFSET`, or the result of the
 * previous call); its target is the uncompressed name at `nameAt` of `names`. Returns the offset of the target, which
 * is the next record's owner, or NO_SPACE.
 */
export function appendCname(
  query: Query,
  ownerOffset: number,
  names: Uint8Array,
  nameAt: number,
  ttlSecs: number,
): number {
  const { bytes } = query;
  const length = nameLength(names, nameAt);
  if (query.answersCount === 0) query.answersAt = query.questionEnd;
  const from = query.answersAt + query.answersLength;
  if (!hasRoom(query, from, cnameSize(length))) return NO_SPACE;
  const at = query.at + from;
  writeU16(bytes, at, POINTER | ownerOffset);
  const fields = at + POINTER_SIZE;
  writeU16(bytes, fields + Record.TYPE, RRType.CNAME);
  writeU16(bytes, fields + Record.CLASS, RRClass.IN);
  writeU32(bytes, fields + Record.TTL, ttlSecs);
  writeU16(bytes, fields + Record.RDLENGTH, length);
  const rdata = fields + Record.RDATA;
  for (let i = 0; i < length; i++) bytes[rdata + i] = names[nameAt + i]!;
  query.answersLength += cnameSize(length);
  query.answersCount++;
  return rdata - query.at;
}

/**
 * Leaves the query to the resolve thread, which resolves the name at `nameAt` of `names` (lower case) and appends the
 * result. Only stages of `Pipeline.decideAgain` may call this function.
 */
export function followAlias(
  query: Query,
  names: Uint8Array,
  nameAt: number,
  status: QueryStatusCode,
): StageResultCode {
  const length = nameLength(names, nameAt);
  for (let i = 0; i < length; i++) query.alias[i] = names[nameAt + i]!;
  query.aliasLength = length;
  query.status = status;
  return StageResult.UNRESOLVED;
}

/** Bytes of an uncompressed name, including the final zero. */
function nameLength(names: Uint8Array, nameAt: number): number {
  let end = nameAt;
  while (names[end] !== 0) end += names[end]! + 1;
  return end - nameAt + 1;
}
