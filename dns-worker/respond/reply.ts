/**
 * Turns the request in the slot into its answer: header, then the question as it came, then what a stage
 * has put behind it, then OPT. Nothing allocates. What the RRs are is decided elsewhere.
 */
import { EdnsOption, RRType } from '../../shared/dns/iana.ts';
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
import { NO_EDE, type Query } from '../query.ts';

/** OPT without options: root name, type, class, ttl, rdlength. */
const OPT_SIZE = 11;
/** Extended DNS error option without text: code, length, info-code (RFC 8914 section 2). */
const EDE_OPTION_SIZE = 6;
/** Largest answer this request may get, bytes. */
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

/** AD for an answer whose state is known: RFC 6840 section 5.8, only for a client that asked with DO or AD. */
export function authenticFlag(query: Query): number {
  const isWanted = query.dnssecOk || query.authenticDataWanted;
  return isWanted && query.dnssec === DnssecStatus.secure ? FlagsLow.AD : 0;
}

/** Bytes that OPT takes in the answer to this request. */
export function optSize(query: Query): number {
  if (!query.hasEdns) return 0;
  return query.extendedError === NO_EDE ? OPT_SIZE : OPT_SIZE + EDE_OPTION_SIZE;
}

/**
 * Finishes an answer whose records end at `bodyEnd` (offset from the message's start); how many there are,
 * the flags and the extended error are the query's. Sets `replyLength` and what the log shows.
 */
export function finishReply(query: Query, rcode: number, bodyEnd: number): void {
  const { bytes, at } = query;
  let end = bodyEnd;
  let truncated = 0;
  if (end + optSize(query) > replyLimit(query)) {
    // RFC 2181 section 9: TC is set when an RRset that is required did not fit; what is left is no use.
    truncated = FlagsHigh.TC;
    clearRecords(query);
    end = query.questionEnd;
  }
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
  writeU16(bytes, at + Header.ARCOUNT, query.hasEdns ? 1 : 0);
  query.rcode = rcode;
  query.replyLength = query.hasEdns ? writeOpt(query, end, rcode) : end;
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
  if (extendedError === NO_EDE) {
    writeU16(bytes, at + 9, 0);
    return end + OPT_SIZE;
  }
  writeU16(bytes, at + 9, EDE_OPTION_SIZE);
  writeU16(bytes, at + 11, EdnsOption.EDE);
  writeU16(bytes, at + 13, 2);
  writeU16(bytes, at + 15, extendedError);
  return end + OPT_SIZE + EDE_OPTION_SIZE;
}

/** Answers with an rcode and no records. A request whose question could not be read gets the bare header. */
export function replyWithRcode(query: Query, rcode: number): void {
  clearRecords(query);
  finishReply(query, rcode, query.questionEnd === 0 ? Header.SIZE : query.questionEnd);
}

function clearRecords(query: Query): void {
  query.answersLength = 0;
  query.answersCount = 0;
  query.authorityCount = 0;
}
