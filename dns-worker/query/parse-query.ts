/**
 * Reads a request in place: header, the one question, OPT. Checks, lower-cases and hashes the qname label by label, so
 * that no later stage reads the message again. Every byte may come from an attacker.
 */
import {
  foldWord,
  hashHighStep,
  hashLowStep,
  LAST_WORD_MASK,
  MAX_LABEL_LENGTH,
  MAX_NAME_LENGTH,
} from '../../shared/dns/name.ts';
import { areOptions } from '../../shared/dns/edns-option.ts';
import { Opcode, RRType } from '../../shared/dns/iana.ts';
import {
  CLASSIC_UDP_SIZE,
  FlagsHigh,
  FlagsLow,
  Header,
  QUESTION_TAIL_SIZE,
  readU16,
  Record,
  skipName,
  skipRecord,
} from '../../shared/dns/wire.ts';
import type { Query } from './query.ts';

/** The result of parsing a request. */
export const ParseOutcome = {
  OK: 0,
  /** The message is too short for a header, or is a response: do not answer. */
  DROP: 1,
  /** The reply is FORMERR. */
  FORMAT_ERROR: 2,
  /** The reply is NOTIMP. */
  NOT_IMPLEMENTED: 3,
  /**
   * The message has no question, but an OPT record, whose fields are in `query`. Valid only as a request for a cookie
   * (RFC 7873 section 5.4).
   */
  NO_QUESTION: 4,
} as const;
export type ParseOutcomeCode = (typeof ParseOutcome)[keyof typeof ParseOutcome];

/** Reads the request that `query` points at. Hash lanes start from the given seeds. */
export function parseQuery(query: Query, seedLow: number, seedHigh: number): ParseOutcomeCode {
  const { bytes, at, length } = query;
  if (length < Header.SIZE) return ParseOutcome.DROP;
  const high = bytes[at + Header.FLAGS_HIGH]!;
  // RFC 1035 section 4.1.1: QR set means a response; answering it could start an endless exchange between two servers.
  if ((high & FlagsHigh.QR) !== 0) return ParseOutcome.DROP;
  const low = bytes[at + Header.FLAGS_LOW]!;
  query.recursionDesired = (high & FlagsHigh.RD) !== 0;
  query.checkingDisabled = (low & FlagsLow.CD) !== 0;
  query.authenticDataWanted = (low & FlagsLow.AD) !== 0;
  if ((high & FlagsHigh.OPCODE) >> FlagsHigh.OPCODE_SHIFT !== Opcode.QUERY)
    return ParseOutcome.NOT_IMPLEMENTED;
  const questions = readU16(bytes, at + Header.QDCOUNT);
  if (questions === 0) {
    query.questionEnd = Header.SIZE;
    return readOpt(query) && query.hasEdns ? ParseOutcome.NO_QUESTION : ParseOutcome.FORMAT_ERROR;
  }
  // RFC 9619: a QUERY message has one question at most.
  if (questions !== 1) return ParseOutcome.FORMAT_ERROR;
  if (!readQuestion(query)) return ParseOutcome.FORMAT_ERROR;
  hashSuffixes(query, seedLow, seedHigh);
  return readOpt(query) ? ParseOutcome.OK : ParseOutcome.FORMAT_ERROR;
}

/** Checks the qname label by label and copies it in lower case; false if it is malformed or truncated. */
function readQuestion(query: Query): boolean {
  const { bytes, at, labelAt } = query;
  const start = at + Header.SIZE;
  const end = at + query.length;
  let offset = start;
  let labels = 0;
  for (;;) {
    if (offset >= end) return false;
    const labelLength = bytes[offset]!;
    if (labelLength === 0) break;
    // Also rejects compression pointers: no name precedes the question.
    if (labelLength > MAX_LABEL_LENGTH || offset - start + labelLength + 2 > MAX_NAME_LENGTH) return false;
    labelAt[labels++] = offset - start;
    offset += labelLength + 1;
  }
  offset++;
  if (offset + QUESTION_TAIL_SIZE > end) return false;
  query.qnameLength = offset - start;
  query.labelCount = labels;
  query.qtype = readU16(bytes, offset);
  query.qclass = readU16(bytes, offset + 2);
  query.questionEnd = offset + QUESTION_TAIL_SIZE - at;
  foldName(query, start);
  return true;
}

/** Copies the name at `start` of the message's buffer in lower case, four bytes at a time. */
function foldName(query: Query, start: number): void {
  const { view, qnameWords, qnameLength } = query;
  const last = (qnameLength - 1) >>> 2;
  // The last word ends at most three bytes after the name, within type and class.
  for (let word = 0; word <= last; word++)
    qnameWords[word] = foldWord(view.getInt32(start + (word << 2), true));
  qnameWords[last] = qnameWords[last]! & LAST_WORD_MASK[qnameLength & 3]!;
}

/** Hashes the name from its end, and stores the lanes at the start of every label. */
export function hashSuffixes(query: Query, seedLow: number, seedHigh: number): void {
  const { qname, qnameView, labelAt, hashLow, hashHigh } = query;
  let low = seedLow;
  let high = seedHigh;
  for (let label = query.labelCount - 1; label >= 0; label--) {
    let at = labelAt[label]!;
    const end = at + qname[at]! + 1;
    for (; at + 4 <= end; at += 4) {
      const word = qnameView.getInt32(at, true);
      low = hashLowStep(low, word);
      high = hashHighStep(high, word);
    }
    if (at < end) {
      const word = qnameView.getInt32(at, true) & LAST_WORD_MASK[end - at]!;
      low = hashLowStep(low, word);
      high = hashHighStep(high, word);
    }
    hashLow[label] = low;
    hashHigh[label] = high;
  }
  if (query.labelCount === 0) {
    hashLow[0] = low;
    hashHigh[0] = high;
  }
}

/** Finds the OPT record after the question; false if the rest of the message is malformed. */
function readOpt(query: Query): boolean {
  const { bytes, at } = query;
  const answers = readU16(bytes, at + Header.ANCOUNT);
  const authority = readU16(bytes, at + Header.NSCOUNT);
  const additional = readU16(bytes, at + Header.ARCOUNT);
  const end = at + query.length;
  let offset = at + query.questionEnd;
  const elsewhere = answers + authority;
  for (let i = 0; i < elsewhere + additional; i++) {
    const next = skipRecord(bytes, offset, end);
    if (next < 0) return false;
    if (typeOfRecord(bytes, offset, end) === RRType.OPT) {
      // RFC 6891 section 6.1: a message has at most one OPT record, in the additional section, and its owner is the
      // root.
      if (query.hasEdns || i < elsewhere || bytes[offset] !== 0) return false;
      readOptFields(query, offset + 1, next);
      // The format of options of other EDNS versions is unknown; the reply is BADVERS.
      if (query.ednsVersion === 0 && !areOptions(bytes, query.optionsAt, next)) return false;
    }
    offset = next;
  }
  return true;
}

function typeOfRecord(bytes: Uint8Array, at: number, end: number): number {
  return readU16(bytes, skipName(bytes, at, end) + Record.TYPE);
}

function readOptFields(query: Query, at: number, end: number): void {
  const { bytes } = query;
  query.hasEdns = true;
  const size = readU16(bytes, at + Record.CLASS);
  // RFC 6891 section 6.2.3: values lower than 512 MUST be treated as equal to 512.
  query.udpSize = size < CLASSIC_UDP_SIZE ? CLASSIC_UDP_SIZE : size;
  query.ednsVersion = bytes[at + Record.TTL + 1]!;
  query.dnssecOk = (bytes[at + Record.TTL + 2]! & 0x80) !== 0;
  query.optionsAt = at + Record.RDATA;
  query.optionsEnd = end;
}
