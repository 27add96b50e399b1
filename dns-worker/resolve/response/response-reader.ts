/**
 * Converts an upstream's response to a form that may be cached and relayed: from the answer section, only the RRsets on
 * the question's CNAME/DNAME chain; from the authority section, only the SOA of a negative answer (and the denial
 * proofs for clients that set DO). All other records are dropped, so unsolicited records never reach a cache. Names are
 * rewritten (`body-writer.ts`) so that the bytes fit any client's question. `question-run.ts` decides whether a
 * response is good enough.
 */
import { randomInt } from 'node:crypto';
import { FOLD, MAX_NAME_LENGTH } from '../../../shared/dns/name.ts';
import { RRType, Rcode } from '../../../shared/dns/iana.ts';
import { FlagsHigh, FlagsLow, Header, QUESTION_TAIL_SIZE, readU32 } from '../../../shared/dns/wire.ts';
import type { CacheableAnswer, LeftOut, ResponseFault, ResponseReading } from './cacheable-answer.ts';
import { BodyWriter } from './body-writer.ts';
import type { Question } from './question.ts';
import { isResponseTo } from './question.ts';
import { NO_TTL, RRsetWriter } from './rrset-writer.ts';
import { expandRdataName } from './rdata-layout.ts';
import { RecordTable } from './record-table.ts';
import { blockErrorOf, ecsScopeOf, OTHER_ECS } from './reply-options.ts';
import { copyName, findSuffix, newExpandedName } from './wire-name.ts';

export type { CacheableAnswer, ResponseReading } from './cacheable-answer.ts';

/** Maximum number of aliases in one answer, similar to other resolvers; a longer chain is a fault. */
export const MAX_CHAIN_HOPS = 16;

const TRUNCATED: ResponseReading = { kind: 'truncated' };

const seed = randomInt(2 ** 31);
const table = new RecordTable(seed);
const body = new BodyWriter(seed);
const writer = new RRsetWriter(table, body);
const current = newExpandedName();
const other = newExpandedName();
const target = newExpandedName();

/** The message being read: one variable is enough, because reading is synchronous. */
let message: Uint8Array = new Uint8Array(0);
let question: Question;
/** Number of aliases in the chain. */
let hops = 0;
/** Index of the DNAME whose CNAME is missing; -1 = none. */
let missingAliasOf = -1;
let ecsScope = 0;

/**
 * Reads a response to `asked`. Never throws, whatever the bytes are; the work is linear in the number of bytes. The
 * rest of a truncated message is not read. Response codes other than NOERROR, NXDOMAIN and YXDOMAIN give an answer
 * without records. The result shares no memory with `bytes`.
 */
export function readResponse(bytes: Uint8Array, asked: Question): ResponseReading {
  if (!isResponseTo(bytes, asked)) return fault('not-a-response-to-this');
  if ((bytes[Header.FLAGS_HIGH]! & FlagsHigh.TC) !== 0) return TRUNCATED;
  message = bytes;
  question = asked;
  const { qname } = asked;
  current.wire.set(qname);
  current.length = qname.length;
  const read = table.read(bytes, Header.SIZE + qname.length + QUESTION_TAIL_SIZE, current);
  if (read !== 'read') return fault(read);
  const { ecs } = asked;
  ecsScope = ecs === null ? 0 : ecsScopeOf(bytes, table.optionsAt, table.optionsEnd, ecs);
  if (ecsScope === OTHER_ECS) return fault('other-ecs');
  const rcode = (table.extendedRcode << 4) | (bytes[Header.FLAGS_LOW]! & FlagsLow.RCODE);
  body.begin(qname);
  writer.begin(bytes, asked);
  if (rcode !== Rcode.NOERROR && rcode !== Rcode.NXDOMAIN && rcode !== Rcode.YXDOMAIN) {
    return finish(rcode, 0, 0, false);
  }
  const chain = writeChain(rcode);
  if (chain === 'chain-too-long') return fault(chain);
  if (chain === 'unwritten') return unwritten();
  const answers = writer.written;
  const answersLength = body.length;
  const leftOut = chain === 'negative' && rcode === Rcode.NOERROR ? leftOutTarget() : undefined;
  const negative = chain === 'negative' && leftOut === undefined;
  if (negative && answers === 0 && rcode === Rcode.NOERROR && isReferral()) return fault('referral');
  if (!writeAuthority(negative)) return unwritten();
  return finish(rcode, answers, answersLength, negative, leftOut);
}

function fault(reason: ResponseFault): ResponseReading {
  return { kind: 'fault', fault: reason };
}

/** Fault of a record that is malformed, or does not fit. */
function unwritten(): ResponseReading {
  return fault(body.isTooLong ? 'too-long' : 'malformed-data');
}

function finish(
  rcode: number,
  answers: number,
  answersLength: number,
  negative: boolean,
  leftOut?: LeftOut,
): ResponseReading {
  const answer: CacheableAnswer = {
    rcode,
    authenticated: (message[Header.FLAGS_LOW]! & FlagsLow.AD) !== 0,
    answerCount: answers,
    authorityCount: writer.written - answers,
    body: body.body(),
    ttlOffsets: body.ttlOffsets(),
    minTtlSecs: writer.minTtlSecs === NO_TTL ? 0 : writer.minTtlSecs,
    negative,
    answersLength,
    ecsScope,
    extendedError: blockErrorOf(message, table.optionsAt, table.optionsEnd),
    leftOut,
  };
  return { kind: 'answer', answer, hasEdns: table.hasOpt };
}

/**
 * A chain that ends at an alias means "no data" only if it comes with the SOA of the zone (RFC 2308 section 2.2). A
 * server that knows only the alias sends only the alias (RFC 1034 section 4.3.2, step 3a).
 */
function leftOutTarget(): LeftOut | undefined {
  if (hops === 0 || findSoa() >= 0) return undefined;
  return { target: current.wire.slice(0, current.length).map((octet) => FOLD[octet]!), hops };
}

/** Follows the chain from the question's name and writes each RRset on it. */
function writeChain(rcode: number): 'positive' | 'negative' | 'unwritten' | 'chain-too-long' {
  const { qtype } = question;
  const endsAtAlias = qtype === RRType.CNAME;
  for (hops = 0; ; hops++) {
    const hash = table.hash(current);
    // NXDOMAIN means that the last name of the chain has no records, so records for it would be a contradiction.
    if (rcode !== Rcode.NXDOMAIN) {
      // An alias synthesized from a DNAME has no signature.
      if (endsAtAlias && !writeDnameOf(findRecord(hash, RRType.CNAME))) return 'unwritten';
      const found = writer.writeRRset(current, hash, qtype);
      if (found < 0) return 'unwritten';
      if (found > 0) return 'positive';
    }
    const cname = endsAtAlias ? -1 : findRecord(hash, RRType.CNAME);
    const isMade = cname < 0 && findMissingAlias();
    if (cname < 0 && !isMade) return 'negative';
    if (hops === MAX_CHAIN_HOPS) return 'chain-too-long';
    if (isMade) {
      if (!writeMissingAlias()) return 'unwritten';
    } else if (!writeDnameOf(cname) || writer.writeRRset(current, hash, RRType.CNAME, cname) < 0)
      return 'unwritten';
    if (endsAtAlias) return 'positive';
    copyName(target, current);
  }
}

/** First record of the answer section with the chain's current name and this type; -1 = none. */
function findRecord(hash: number, type: number): number {
  for (let i = 0; i < table.answers; i++) {
    if (table.type[i] === type && writer.isAnswerClass(i) && table.isOwnedBy(message, i, current, hash))
      return i;
  }
  return -1;
}

/**
 * Reads `target` from the CNAME at `current`, if any, and writes the DNAME from which the CNAME was synthesized.
 * Returns the result of `writeDnameAbove`.
 */
function writeDnameOf(cname: number): boolean {
  if (cname < 0) return true;
  const rdataAt = table.rdataAt[cname]!;
  return expandRdataName(message, rdataAt, rdataAt + table.rdlength[cname]!, target) && writeDnameAbove();
}

/**
 * Writes the DNAME, if any, from which the CNAME from `current` to `target` was synthesized (RFC 6672 section 2.2);
 * other DNAMEs are unsolicited. False = a record did not fit or was malformed.
 */
function writeDnameAbove(): boolean {
  for (let i = 0; i < table.answers; i++) {
    if (table.type[i] !== RRType.DNAME || !writer.isAnswerClass(i)) continue;
    if (!table.owner(message, i, other)) return false;
    const prefix = findSuffix(current, other);
    if (prefix <= 0) continue;
    const rdataAt = table.rdataAt[i]!;
    const hash = table.ownerHash[i]!;
    if (!expandRdataName(message, rdataAt, rdataAt + table.rdlength[i]!, other)) return false;
    if (findSuffix(target, other) !== prefix || !startsAlike(prefix)) continue;
    return writeDname(i, hash);
  }
  return true;
}

/**
 * Finds the DNAME that makes `current` an alias if the server omitted the CNAME (RFC 6672 section 3.1 requires it), and
 * sets `target`. Also returns false if the target would be too long, which the server reports as YXDOMAIN.
 */
function findMissingAlias(): boolean {
  missingAliasOf = -1;
  for (let i = 0; i < table.answers && missingAliasOf < 0; i++) {
    if (table.type[i] !== RRType.DNAME || !writer.isAnswerClass(i)) continue;
    if (!table.owner(message, i, other)) return false;
    const prefix = findSuffix(current, other);
    const rdataAt = table.rdataAt[i]!;
    if (prefix <= 0 || !expandRdataName(message, rdataAt, rdataAt + table.rdlength[i]!, other)) continue;
    if (prefix + other.length > MAX_NAME_LENGTH) return false;
    target.wire.set(current.wire.subarray(0, prefix));
    target.wire.set(other.wire.subarray(0, other.length), prefix);
    target.length = prefix + other.length;
    missingAliasOf = i;
  }
  return missingAliasOf >= 0;
}

/** Writes the DNAME that `findMissingAlias` has found, and the CNAME synthesized from it, with the DNAME's TTL. */
function writeMissingAlias(): boolean {
  const index = missingAliasOf;
  return (
    writeDname(index, table.ownerHash[index]!) && writer.writeAlias(current, target, table.ttlSecs[index]!)
  );
}

/** Whether `current` and `target` begin with the same `length` bytes, ignoring ASCII case. */
function startsAlike(length: number): boolean {
  for (let i = 0; i < length; i++) {
    if (FOLD[current.wire[i]!] !== FOLD[target.wire[i]!]) return false;
  }
  return true;
}

function writeDname(index: number, hash: number): boolean {
  if (!table.owner(message, index, other)) return false;
  const ttlSecs = table.ttlSecs[index]!;
  if (!writer.write(index, ttlSecs)) return false;
  for (let i = 0; question.dnssecOk && i < table.answers; i++) {
    if (!writer.covers(i, RRType.DNAME) || !table.isOwnedBy(message, i, other, hash)) continue;
    if (!writer.write(i, Math.min(ttlSecs, table.ttlSecs[i]!))) return false;
  }
  return true;
}

/** A referral is useless to a forwarder (RFC 2308 section 2.2). */
function isReferral(): boolean {
  const authoritative = (message[Header.FLAGS_HIGH]! & FlagsHigh.AA) !== 0;
  const recursive = (message[Header.FLAGS_LOW]! & FlagsLow.RA) !== 0;
  if (authoritative || recursive) return false;
  let nameServers = false;
  for (let i = table.answers; i < table.count; i++) {
    if (table.type[i] === RRType.SOA) return false;
    if (table.type[i] === RRType.NS) nameServers = true;
  }
  return nameServers;
}

/** Writes the SOA of a negative answer and, for DO, the denial proofs with their signatures. */
function writeAuthority(negative: boolean): boolean {
  let limitSecs = NO_TTL;
  if (negative) {
    const soa = findSoa();
    if (soa < 0) {
      writer.minTtlSecs = 0;
    } else {
      const { rdataAt, rdlength } = table;
      const minimum = readU32(message, rdataAt[soa]! + rdlength[soa]! - 4);
      // RFC 2181 section 8 also applies to MINIMUM, which is a TTL.
      limitSecs = Math.min(table.ttlSecs[soa]!, minimum > 0x7fffffff ? 0 : minimum);
      if (!writer.write(soa, limitSecs)) return false;
      if (question.dnssecOk && !writeAuthoritySignatures(RRType.SOA, limitSecs)) return false;
    }
  }
  if (!question.dnssecOk) return true;
  return writeProofs(RRType.NSEC, limitSecs) && writeProofs(RRType.NSEC3, limitSecs);
}

/** The first SOA whose zone contains the chain's last name; -1 = none. */
function findSoa(): number {
  for (let i = table.answers; i < table.count; i++) {
    if (table.type[i] !== RRType.SOA || !writer.isAnswerClass(i) || table.rdlength[i]! < 22) continue;
    if (table.owner(message, i, other) && findSuffix(current, other) >= 0) return i;
  }
  return -1;
}

/** NSEC and NSEC3 records must not live longer than the negative answer (RFC 9077 section 3). */
function writeProofs(type: number, limitSecs: number): boolean {
  let found = false;
  for (let i = table.answers; i < table.count; i++) {
    if (table.type[i] !== type || !writer.isAnswerClass(i)) continue;
    found = true;
    if (!writer.write(i, Math.min(limitSecs, table.ttlSecs[i]!))) return false;
  }
  return !found || writeAuthoritySignatures(type, limitSecs);
}

function writeAuthoritySignatures(type: number, limitSecs: number): boolean {
  for (let i = table.answers; i < table.count; i++) {
    if (!writer.covers(i, type) || !writer.isAnswerClass(i)) continue;
    if (!writer.write(i, Math.min(limitSecs, table.ttlSecs[i]!))) return false;
  }
  return true;
}
