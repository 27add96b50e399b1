/**
 * Reads a request in place: header, the one question, OPT. The qname is checked, folded and hashed here,
 * label by label, so that no later stage looks at the message again. Every byte is hostile.
 */
import { FOLD, hashHighStep, hashLowStep, MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from '../shared/dns/name.ts';
import { Opcode, RRType } from '../shared/dns/iana.ts';
import {
  CLASSIC_UDP_SIZE,
  FlagsHigh,
  FlagsLow,
  Header,
  QUESTION_TAIL_SIZE,
  readU16,
  Record,
  skipRecord,
} from '../shared/dns/wire.ts';
import type { Query } from './query.ts';

/** What is to be done with a request after reading it. */
export const ParseOutcome = {
  OK: 0,
  /** Too short for a header, or itself a response: no answer may be given. */
  DROP: 1,
  /** Answer FORMERR. */
  FORMAT_ERROR: 2,
  /** Answer NOTIMP. */
  NOT_IMPLEMENTED: 3,
} as const;

/** Reads the request that `query` points at. Hash lanes start from the given seeds. */
export function parseQuery(query: Query, seedLow: number, seedHigh: number): number {
  const { bytes, at, length } = query;
  if (length < Header.SIZE) return ParseOutcome.DROP;
  const high = bytes[at + Header.FLAGS_HIGH]!;
  // RFC 1035 section 4.1.1: QR set means a response; answering it would let two servers talk forever.
  if ((high & FlagsHigh.QR) !== 0) return ParseOutcome.DROP;
  const low = bytes[at + Header.FLAGS_LOW]!;
  query.recursionDesired = (high & FlagsHigh.RD) !== 0;
  query.checkingDisabled = (low & FlagsLow.CD) !== 0;
  query.authenticDataWanted = (low & FlagsLow.AD) !== 0;
  if ((high & FlagsHigh.OPCODE) >> FlagsHigh.OPCODE_SHIFT !== Opcode.QUERY)
    return ParseOutcome.NOT_IMPLEMENTED;
  // RFC 9619: a QUERY message has exactly one question.
  if (readU16(bytes, at + Header.QDCOUNT) !== 1) return ParseOutcome.FORMAT_ERROR;
  if (!readQuestion(query)) return ParseOutcome.FORMAT_ERROR;
  hashSuffixes(query, seedLow, seedHigh);
  return readOpt(query) ? ParseOutcome.OK : ParseOutcome.FORMAT_ERROR;
}

/** Checks and folds the qname, label by label; false where it is malformed or cut off. */
function readQuestion(query: Query): boolean {
  const { bytes, at, qname, labelAt } = query;
  const end = at + query.length;
  let offset = at + Header.SIZE;
  let written = 0;
  let labels = 0;
  for (;;) {
    if (offset >= end) return false;
    const labelLength = bytes[offset]!;
    if (labelLength === 0) break;
    // Also refuses compression pointers: there is nothing before the question to point at.
    if (labelLength > MAX_LABEL_LENGTH) return false;
    if (written + labelLength + 2 > MAX_NAME_LENGTH || offset + labelLength >= end) return false;
    labelAt[labels++] = written;
    qname[written++] = labelLength;
    offset++;
    for (const labelEnd = offset + labelLength; offset < labelEnd; offset++)
      qname[written++] = FOLD[bytes[offset]!]!;
  }
  qname[written] = 0;
  offset++;
  if (offset + QUESTION_TAIL_SIZE > end) return false;
  query.qnameLength = written + 1;
  query.labelCount = labels;
  query.qtype = readU16(bytes, offset);
  query.qclass = readU16(bytes, offset + 2);
  query.questionEnd = offset + QUESTION_TAIL_SIZE - at;
  return true;
}

/** Hashes the name from its end, keeping the lanes at the start of every label. */
function hashSuffixes(query: Query, seedLow: number, seedHigh: number): void {
  const { qname, labelAt, hashLow, hashHigh } = query;
  let low = seedLow;
  let high = seedHigh;
  let offset = query.qnameLength - 2;
  for (let label = query.labelCount - 1; label >= 0; label--) {
    for (const start = labelAt[label]!; offset >= start; offset--) {
      const byte = qname[offset]!;
      low = hashLowStep(low, byte);
      high = hashHighStep(high, byte);
    }
    hashLow[label] = low;
    hashHigh[label] = high;
  }
  if (query.labelCount === 0) {
    hashLow[0] = low;
    hashHigh[0] = high;
  }
}

/** Finds the OPT record behind the question; false where the rest of the message is malformed. */
function readOpt(query: Query): boolean {
  const { bytes, at } = query;
  const answers = readU16(bytes, at + Header.ANCOUNT);
  const authority = readU16(bytes, at + Header.NSCOUNT);
  const additional = readU16(bytes, at + Header.ARCOUNT);
  const end = at + query.length;
  let offset = at + query.questionEnd;
  for (let left = answers + authority; left > 0; left--) {
    offset = skipRecord(bytes, offset, end);
    if (offset < 0) return false;
  }
  for (let left = additional; left > 0; left--) {
    const next = skipRecord(bytes, offset, end);
    if (next < 0) return false;
    if (bytes[offset] === 0 && readU16(bytes, offset + 1) === RRType.OPT) {
      // RFC 6891 section 6.1.1: more than one OPT is FORMERR.
      if (query.hasEdns) return false;
      readOptFields(query, offset + 1);
    }
    offset = next;
  }
  return true;
}

function readOptFields(query: Query, at: number): void {
  const { bytes } = query;
  query.hasEdns = true;
  const size = readU16(bytes, at + Record.CLASS);
  // RFC 6891 section 6.2.3: values lower than 512 MUST be treated as equal to 512.
  query.udpSize = size < CLASSIC_UDP_SIZE ? CLASSIC_UDP_SIZE : size;
  query.ednsVersion = bytes[at + Record.TTL + 1]!;
  query.dnssecOk = (bytes[at + Record.TTL + 2]! & 0x80) !== 0;
}
