/**
 * The answer to a blocked query, according to `blocking.mode`: an unusable address, NXDOMAIN, NODATA, REFUSED, or an
 * address that the operator chose. Negative answers contain an SOA, so that clients can cache them (RFC 2308 section
 * 5), and all answers contain an extended error if the client uses EDNS.
 */
import { Rcode, RRType } from '../../shared/dns/iana.ts';
import { Header, Record, writeU16, writeU32 } from '../../shared/dns/wire.ts';
import { BlockingMode, type PolicyTable } from '../../shared/snapshot/policy-table.ts';
import type { Query } from '../query/query.ts';
import { finishReply, hasRoom, optSize, replyLimit, replyTruncated, replyWithRcode } from './reply.ts';

/** Compression pointer to the qname (RFC 1035 section 4.1.4). */
const QNAME_POINTER = 0xc000 | Header.SIZE;
const POINTER_SIZE = 2;
/** RNAME of the SOA that RFC 6303 section 3 proposes for synthesized zones: nobody.invalid. */
const SOA_RNAME = Uint8Array.from([6, ...Buffer.from('nobody'), 7, ...Buffer.from('invalid'), 0]);
const SOA_REFRESH_SECS = 3600;
const SOA_RETRY_SECS = 1200;
const SOA_EXPIRE_SECS = 604_800;
/** Size of the five integers at the end of an SOA record. */
const SOA_TAIL_SIZE = 20;

/** Writes the answer to a query that policy blocks; `extendedError` is the reason (RFC 8914 section 4). */
export function answerBlocked(query: Query, policy: PolicyTable, extendedError: number): void {
  query.extendedError = extendedError;
  const ttlSecs = policy.blockingTtlSecs;
  switch (policy.blockingMode) {
    case BlockingMode.nxdomain:
      answerNegative(query, Rcode.NXDOMAIN, ttlSecs);
      return;
    case BlockingMode.refused:
      replyWithRcode(query, Rcode.REFUSED);
      return;
    case BlockingMode.nodata:
      answerNegative(query, Rcode.NOERROR, ttlSecs);
      return;
    default:
      // The custom addresses are zero in mode `null_ip`.
      if (query.qtype === RRType.A && policy.givesIpv4) answerRecord(query, policy.customIpv4, ttlSecs);
      else if (query.qtype === RRType.AAAA && policy.givesIpv6)
        answerRecord(query, policy.customIpv6, ttlSecs);
      else answerNegative(query, Rcode.NOERROR, ttlSecs);
  }
}

/** Answers with one record of the qtype with this RDATA, whose names are not compressed. */
export function answerRecord(query: Query, rdata: Uint8Array, ttlSecs: number): void {
  answerTyped(query, query.qtype, rdata, ttlSecs);
}

/** Answers with one record of a given type, which may differ from the qtype. */
export function answerTyped(query: Query, type: number, rdata: Uint8Array, ttlSecs: number): void {
  beginAnswers(query);
  if (addRecord(query, type, rdata, ttlSecs)) finishReply(query, Rcode.NOERROR, endOfAnswers(query));
}

/**
 * Answers with several records of the qtype; `additionals` are records in wire form, which are added if there is space.
 */
export function answerRecords(
  query: Query,
  rdatas: readonly Uint8Array[],
  ttlSecs: number,
  additionals: readonly Uint8Array[],
): void {
  beginAnswers(query);
  for (let i = 0; i < rdatas.length; i++) if (!addRecord(query, query.qtype, rdatas[i]!, ttlSecs)) return;
  let end = endOfAnswers(query);
  for (const record of additionals) {
    if (end + record.length + optSize(query) > replyLimit(query)) break;
    query.bytes.set(record, query.at + end);
    end += record.length;
    query.additionalCount++;
  }
  finishReply(query, Rcode.NOERROR, end);
}

function beginAnswers(query: Query): void {
  query.answersAt = query.questionEnd;
  query.answersLength = 0;
  query.answersCount = 0;
}

/** Adds a record to the answer; if it does not fit, truncates the reply and returns false. */
function addRecord(query: Query, type: number, rdata: Uint8Array, ttlSecs: number): boolean {
  const size = rdata.length;
  const from = endOfAnswers(query);
  if (!hasRoom(query, from, POINTER_SIZE + Record.RDATA + size)) {
    replyTruncated(query, Rcode.NOERROR);
    return false;
  }
  const start = writeRecordHead(query, from, type, ttlSecs, size);
  const { bytes } = query;
  for (let i = 0; i < size; i++) bytes[query.at + start + i] = rdata[i]!;
  query.answersLength = start + size - query.questionEnd;
  query.answersCount++;
  return true;
}

function endOfAnswers({ questionEnd, answersLength }: Query): number {
  return questionEnd + answersLength;
}

/** Sizes of an SOA's RDATA, and of the whole record. */
const SOA_SIZE = POINTER_SIZE + SOA_RNAME.length + SOA_TAIL_SIZE;
const NEGATIVE_SIZE = POINTER_SIZE + Record.RDATA + SOA_SIZE;

/**
 * NXDOMAIN, or NODATA if `rcode` is NOERROR, after the existing answers, with an SOA whose owner is the name at
 * `ownerOffset` of the message: the qname, or the end of its alias chain.
 */
export function answerNegative(
  query: Query,
  rcode: number,
  ttlSecs: number,
  ownerOffset: number = Header.SIZE,
): void {
  const from = query.questionEnd + query.answersLength;
  if (!hasRoom(query, from, NEGATIVE_SIZE)) {
    replyTruncated(query, rcode);
    return;
  }
  const owner = QNAME_POINTER - Header.SIZE + ownerOffset;
  let at = query.at + writeRecordHead(query, from, RRType.SOA, ttlSecs, SOA_SIZE);
  const { bytes } = query;
  writeU16(bytes, query.at + from, owner);
  writeU16(bytes, at, owner);
  at += POINTER_SIZE;
  for (let i = 0; i < SOA_RNAME.length; i++) bytes[at + i] = SOA_RNAME[i]!;
  at += SOA_RNAME.length;
  writeSoaTail(bytes, at, ttlSecs);
  query.authorityCount = 1;
  finishReply(query, rcode, at + SOA_TAIL_SIZE - query.at);
}

/** RDATA of the SOA that `answerNegative` writes, with uncompressed names. */
export function soaRdata(zone: Uint8Array, ttlSecs: number): Uint8Array {
  const rdata = Uint8Array.from([...zone, ...SOA_RNAME, ...new Uint8Array(SOA_TAIL_SIZE)]);
  writeSoaTail(rdata, rdata.length - SOA_TAIL_SIZE, ttlSecs);
  return rdata;
}

function writeSoaTail(bytes: Uint8Array, at: number, ttlSecs: number): void {
  writeU32(bytes, at, 1);
  writeU32(bytes, at + 4, SOA_REFRESH_SECS);
  writeU32(bytes, at + 8, SOA_RETRY_SECS);
  writeU32(bytes, at + 12, SOA_EXPIRE_SECS);
  writeU32(bytes, at + 16, ttlSecs);
}

/** Writes owner, type, class, TTL and RDLENGTH at offset `from`; returns the offset of the RDATA. */
function writeRecordHead(
  query: Query,
  from: number,
  type: number,
  ttlSecs: number,
  rdataSize: number,
): number {
  const { bytes } = query;
  const at = query.at + from;
  writeU16(bytes, at, QNAME_POINTER);
  const fields = at + POINTER_SIZE;
  writeU16(bytes, fields + Record.TYPE, type);
  writeU16(bytes, fields + Record.CLASS, query.qclass);
  writeU32(bytes, fields + Record.TTL, ttlSecs);
  writeU16(bytes, fields + Record.RDLENGTH, rdataSize);
  return from + POINTER_SIZE + Record.RDATA;
}
