/**
 * Turns the request in the slot into its answer: header, the unchanged question, the records that a stage wrote, then
 * OPT. Allocates nothing. Stages decide which records to write.
 */
import { EcsData } from '../../shared/dns/ecs-option.ts';
import { OPTION_HEAD_SIZE } from '../../shared/dns/edns-option.ts';
import { EdnsOption, RRType, Rcode } from '../../shared/dns/iana.ts';
import {
  CLASSIC_UDP_SIZE,
  FlagsHigh,
  FlagsLow,
  Header,
  MAX_MESSAGE_SIZE,
  UDP_PAYLOAD_SIZE,
  writeU16,
} from '../../shared/dns/wire.ts';
import { DnssecStatus, Protocol } from '../../shared/query-log.ts';
import { NO_EDE, type Query } from '../query/query.ts';
import { streamIdleMs, StreamOption } from '../query/stream-options.ts';

/** Size of OPT without options: root name, type, class, ttl, rdlength. */
const OPT_SIZE = 11;
/** Size of an extended DNS error option without text: code, length, info-code (RFC 8914 section 2). */
const EDE_OPTION_SIZE = 6;
/** Size of the keepalive option: code, length, and the idle timeout in units of 100 ms (RFC 7828 section 3.1). */
const KEEPALIVE_OPTION_SIZE = 6;
const KEEPALIVE_UNIT_MS = 100;
/** Padded replies are padded to a multiple of this many bytes (RFC 8467 section 4.1). */
const PADDED_BLOCK = 468;

/** Maximum size of the answer to this request, in bytes. */
export function replyLimit(query: Query): number {
  const limit =
    query.protocol !== Protocol.udp
      ? MAX_MESSAGE_SIZE
      : query.udpSize < UDP_PAYLOAD_SIZE
        ? query.udpSize
        : query.hasEdns
          ? UDP_PAYLOAD_SIZE
          : CLASSIC_UDP_SIZE;
  return limit < query.capacity ? limit : query.capacity;
}

/** Whether the slot has space for `size` bytes at offset `from` of the message; if false, the caller must not write. */
export function hasRoom(query: Query, from: number, size: number): boolean {
  return from + size <= query.capacity;
}

/** Answers with TC, because the records do not fit into the slot, whose size is the maximum for UDP replies. */
export function replyTruncated(query: Query, rcode: number): void {
  finishReply(query, rcode, query.capacity + 1);
}

/** The AD bit of a validated answer: only for a client that set DO or AD (RFC 6840 section 5.8). */
export function authenticFlag(query: Query): number {
  const isWanted = query.dnssecOk || query.authenticDataWanted;
  return isWanted && query.dnssec === DnssecStatus.secure ? FlagsLow.AD : 0;
}

/** Size of OPT in the answer to this request. */
export function optSize(query: Query): number {
  if (!query.hasEdns) return 0;
  return OPT_SIZE + optionsSize(query);
}

function resetOptions(query: Query): void {
  query.extendedError = NO_EDE;
  query.ecsLength = 0;
  query.cookieLength = 0;
  query.streamOptions = 0;
}

/** Size of all options except padding, which fills the remaining space. */
function optionsSize({ extendedError, ecsLength, cookieLength, streamOptions }: Query): number {
  let size = extendedError === NO_EDE ? 0 : EDE_OPTION_SIZE;
  if (ecsLength !== 0) size += OPTION_HEAD_SIZE + ecsLength;
  if (cookieLength !== 0) size += OPTION_HEAD_SIZE + cookieLength;
  if ((streamOptions & StreamOption.KEEPALIVE) !== 0) size += KEEPALIVE_OPTION_SIZE;
  return size;
}

/**
 * Finishes an answer whose records end at `bodyEnd` (offset from the message's start); their number, the flags and the
 * extended error are in the query. An rcode that needs EDNS becomes SERVFAIL without EDNS. Sets `replyLength` and the
 * log fields.
 */
export function finishReply(query: Query, wantedRcode: number, bodyEnd: number): void {
  const { bytes, at } = query;
  // OPT contains the upper bits of the rcode (RFC 6891 section 6.1.3): without OPT, the lower bits alone would mean a
  // different rcode.
  const rcode = wantedRcode > FlagsLow.RCODE && !query.hasEdns ? Rcode.SERVFAIL : wantedRcode;
  const limit = replyLimit(query);
  let end = bodyEnd;
  let truncated = 0;
  if (end + optSize(query) > limit) {
    // Over a stream, the client cannot request a larger message: options are omitted first, then OPT, to keep the records.
    if (query.protocol !== Protocol.udp && end <= limit) resetOptions(query);
    else {
      // RFC 2181 section 9: TC is set if a required RRset did not fit; the other records are useless.
      truncated = FlagsHigh.TC;
      clearRecords(query);
      end = endOfQuestion(query);
    }
  }
  const hasOpt = query.hasEdns && hasRoom(query, end, optSize(query));
  const high = bytes[at + Header.FLAGS_HIGH]!;
  const low = bytes[at + Header.FLAGS_LOW]!;
  const flags = query.replyFlags;
  bytes[at + Header.FLAGS_HIGH] =
    FlagsHigh.QR | (high & (FlagsHigh.OPCODE | FlagsHigh.RD)) | (flags & FlagsHigh.AA) | truncated;
  bytes[at + Header.FLAGS_LOW] =
    FlagsLow.RA | (low & FlagsLow.CD) | (flags & FlagsLow.AD) | (rcode & FlagsLow.RCODE);
  writeU16(bytes, at + Header.QDCOUNT, end === Header.SIZE ? 0 : 1);
  writeU16(bytes, at + Header.ANCOUNT, query.answersCount);
  writeU16(bytes, at + Header.NSCOUNT, query.authorityCount);
  writeU16(bytes, at + Header.ARCOUNT, query.additionalCount + (hasOpt ? 1 : 0));
  query.rcode = rcode;
  query.replyLength = hasOpt ? writeOpt(query, end, rcode) : end;
}

function writeOpt(query: Query, end: number, rcode: number): number {
  const { bytes, extendedError } = query;
  const at = query.at + end;
  bytes[at] = 0;
  writeU16(bytes, at + 1, RRType.OPT);
  writeU16(bytes, at + 3, UDP_PAYLOAD_SIZE);
  bytes[at + 5] = rcode >>> 4;
  bytes[at + 6] = 0;
  bytes[at + 7] = query.dnssecOk ? 0x80 : 0;
  bytes[at + 8] = 0;
  let option = at + OPT_SIZE;
  if (extendedError !== NO_EDE) {
    writeU16(bytes, option, EdnsOption.EDE);
    writeU16(bytes, option + 2, 2);
    writeU16(bytes, option + 4, extendedError);
    option += EDE_OPTION_SIZE;
  }
  if (query.cookieLength !== 0) {
    writeCookie(query, option);
    option += OPTION_HEAD_SIZE + query.cookieLength;
  }
  if (query.ecsLength !== 0) {
    writeEcs(query, option);
    option += OPTION_HEAD_SIZE + query.ecsLength;
  }
  if (query.streamOptions !== 0) option = writeStreamOptions(query, option);
  writeU16(bytes, at + 9, option - at - OPT_SIZE);
  return option - query.at;
}

/** Writes the stream options; returns the end of the last option. */
function writeStreamOptions(query: Query, at: number): number {
  const { bytes, streamOptions } = query;
  let end = at;
  if ((streamOptions & StreamOption.KEEPALIVE) !== 0) {
    writeU16(bytes, end, EdnsOption.TCP_KEEPALIVE);
    writeU16(bytes, end + 2, 2);
    writeU16(bytes, end + 4, streamIdleMs() / KEEPALIVE_UNIT_MS);
    end += KEEPALIVE_OPTION_SIZE;
  }
  return (streamOptions & StreamOption.PADDING) === 0 ? end : writePadding(query, end);
}

/**
 * Writes the padding option: zeros up to a full block, or to the maximum reply size (RFC 7830 section 3); no option if
 * its header does not fit.
 */
function writePadding(query: Query, at: number): number {
  const { bytes } = query;
  const unpadded = at - query.at + OPTION_HEAD_SIZE;
  const limit = replyLimit(query);
  if (unpadded > limit) return at;
  const blocks = Math.ceil(unpadded / PADDED_BLOCK) * PADDED_BLOCK;
  const length = (blocks < limit ? blocks : limit) - unpadded;
  writeU16(bytes, at, EdnsOption.PADDING);
  writeU16(bytes, at + 2, length);
  const from = at + OPTION_HEAD_SIZE;
  bytes.fill(0, from, from + length);
  return from + length;
}

function writeCookie({ bytes, cookie, cookieLength }: Query, at: number): void {
  writeU16(bytes, at, EdnsOption.COOKIE);
  writeU16(bytes, at + 2, cookieLength);
  for (let i = 0; i < cookieLength; i++) bytes[at + OPTION_HEAD_SIZE + i] = cookie[i]!;
}

/** RFC 7871 section 7.2.2: the reply repeats the client's option, with the scope of the answer. */
function writeEcs({ bytes, ecs, ecsLength, ecsScope }: Query, at: number): void {
  writeU16(bytes, at, EdnsOption.ECS);
  writeU16(bytes, at + 2, ecsLength);
  const dataAt = at + OPTION_HEAD_SIZE;
  for (let i = 0; i < ecsLength; i++) bytes[dataAt + i] = ecs[i]!;
  bytes[dataAt + EcsData.SCOPE] = ecsScope;
}

/** Answers with an rcode and no records. If the question could not be read, the answer is only a header. */
export function replyWithRcode(query: Query, rcode: number): void {
  clearRecords(query);
  finishReply(query, rcode, endOfQuestion(query));
}

function endOfQuestion({ questionEnd }: Query): number {
  return questionEnd === 0 ? Header.SIZE : questionEnd;
}

function clearRecords(query: Query): void {
  query.answersLength = 0;
  query.answersCount = 0;
  query.authorityCount = 0;
  query.additionalCount = 0;
}
