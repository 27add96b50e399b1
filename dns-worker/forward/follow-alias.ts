/**
 * Joins the two parts of an answer whose qname is an alias: the CNAME records (local, of a search engine, or of an
 * upstream that omitted the target), and the answer of the target. A stage leaves the target in `query.alias` and the
 * CNAME records after the question; `alias-follower.ts` resolves the target and decides about caching and policy. Names
 * are compressed again here.
 */
import { randomInt } from 'node:crypto';
import { RRType, Rcode } from '../../shared/dns/iana.ts';
import { Header, QUESTION_TAIL_SIZE, readU16, readU32, writeU16 } from '../../shared/dns/wire.ts';
import { QueryStatus, type QueryStatusCode } from '../../shared/query-log.ts';
import type { Query } from '../query/query.ts';
import { BodyWriter } from '../resolve/response/body-writer.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import { RecordTable } from '../resolve/response/record-table.ts';
import { newExpandedName } from '../resolve/response/wire-name.ts';

/** An alias that is being followed; nothing of it is shared with the query. */
export interface Alias {
  /** Folded, in wire form. */
  readonly target: Uint8Array;
  /** Header, question and the records that lead to the target. */
  readonly message: Uint8Array;
  /** Of the answer, see `Query`. */
  readonly status: QueryStatusCode;
  readonly replyFlags: number;
  /** A rule makes the alias. */
  readonly isOfRule: boolean;
}

/** What the target came to. */
export interface TargetAnswer {
  /** Without OPT. */
  readonly message: Uint8Array;
  readonly rcode: number;
  readonly status: QueryStatusCode;
  readonly cached: number;
  readonly upstream: number;
  readonly extendedError: number;
  /** See `Query`. */
  readonly ecsScope: number;
  readonly dnssec: Query['dnssec'];
}

const seed = randomInt(2 ** 31);
const table = new RecordTable(seed);
const writer = new BodyWriter(seed);
const asked = newExpandedName();

/** Copies the alias from a query that a stage has left unresolved. */
export function aliasOf(query: Query): Alias {
  const end = query.answersAt + query.answersLength;
  const message = query.bytes.slice(query.at, query.at + end);
  writeU16(message, Header.ANCOUNT, query.answersCount);
  writeU16(message, Header.NSCOUNT, 0);
  writeU16(message, Header.ARCOUNT, 0);
  const target = query.alias.slice(0, query.aliasLength);
  const { status, replyFlags, ruleAttribute } = query;
  return { target, message, status, replyFlags, isOfRule: ruleAttribute !== 0 };
}

/** The alias that an upstream's answer ends at; the answer lies in the slot of `query`, and `request` is as it came. */
export function aliasOfAnswer(query: Query, request: Uint8Array, target: Uint8Array): Alias {
  const message = query.bytes.slice(query.at, query.at + query.answersAt + query.answersLength);
  message.set(request.subarray(0, Header.ANCOUNT));
  writeU16(message, Header.ANCOUNT, query.answersCount);
  writeU16(message, Header.NSCOUNT, 0);
  writeU16(message, Header.ARCOUNT, 0);
  return { target, message, status: QueryStatus.ALLOWED, replyFlags: 0, isOfRule: false };
}

/** The client's query with the target in place of the qname. */
export function questionForTarget({ target, message }: Alias, query: Query): Uint8Array {
  const question = new Uint8Array(Header.SIZE + target.length + QUESTION_TAIL_SIZE);
  question.set(message.subarray(0, Header.ANCOUNT));
  question.set(target, Header.SIZE);
  writeU16(question, Header.SIZE + target.length, query.qtype);
  writeU16(question, Header.SIZE + target.length + 2, query.qclass);
  return question;
}

/** Copies the answer from an answered query. */
export function targetAnswerOf(query: Query): TargetAnswer {
  const { rcode, status, cached, upstream, extendedError, ecsScope, dnssec } = query;
  const message = query.bytes.slice(query.at, query.at + query.replyLength);
  return { message, rcode, status, cached, upstream, extendedError, ecsScope, dnssec };
}

/**
 * The alias and then its target's answer, as an answer to `qname`: the target's rcode is that of the whole (RFC 6604
 * section 3). Null if the target failed, or both are too long for a message. It lives as long as its shortest-lived
 * part.
 */
export function joinAnswers(
  qname: Uint8Array,
  { message, target: name }: Alias,
  target: TargetAnswer,
): CacheableAnswer | null {
  const { rcode, ecsScope } = target;
  if (rcode !== Rcode.NOERROR && rcode !== Rcode.NXDOMAIN) return null;
  writer.begin(qname);
  const leading = write(message, qname, true);
  if (leading < 0) return null;
  const records = write(target.message, name, false, 'answers');
  const answersLength = writer.length;
  const authorityCount = records < 0 ? -1 : write(target.message, name, false, 'authority');
  if (authorityCount < 0) return null;
  const hasSoa = table.type.subarray(table.answers, table.count).includes(RRType.SOA);
  const negative = rcode === Rcode.NXDOMAIN || hasSoa || records === 0;
  const body = writer.body();
  const ttlOffsets = writer.ttlOffsets();
  const minTtlSecs = negative && !hasSoa ? 0 : leastTtl(body, ttlOffsets);
  const answerCount = leading + records;
  return {
    ...{ rcode, authenticated: false, answerCount, authorityCount, answersLength, body },
    ...{ ttlOffsets, minTtlSecs, negative, ecsScope },
  };
}

function leastTtl(body: Uint8Array, ttlOffsets: Uint16Array): number {
  let least = Infinity;
  for (const at of ttlOffsets) least = Math.min(least, readU32(body, at));
  return least;
}

/** Writes a section of a message whose question is `qname`; returns the number of records, -1 = malformed. */
function write(
  message: Uint8Array,
  qname: Uint8Array,
  isAnswer: boolean,
  section: 'answers' | 'authority' = 'answers',
): number {
  asked.wire.set(qname);
  asked.length = qname.length;
  if (readU16(message, Header.QDCOUNT) !== 1) return -1;
  if (table.read(message, Header.SIZE + qname.length + QUESTION_TAIL_SIZE, asked) !== 'read') return -1;
  const from = section === 'answers' ? 0 : table.answers;
  const to = section === 'answers' ? table.answers : table.count;
  for (let i = from; i < to; i++)
    if (!writer.record(message, table, i, table.ttlSecs[i]!, isAnswer)) return -1;
  return to - from;
}
