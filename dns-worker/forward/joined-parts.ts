/**
 * Joins the parts of an answer that were resolved separately: the CNAME records (local, of a search engine, or from an
 * upstream that omitted the target), and the answer for the target. Names are compressed again.
 */
import { randomInt } from 'node:crypto';
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { Header, QUESTION_TAIL_SIZE, readU16, readU32 } from '../../shared/dns/wire.ts';
import {
  DnssecStatus,
  type DnssecStatusCode,
  QueryStatus,
  type QueryStatusCode,
} from '../../shared/query-log.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import type { Query } from '../query/query.ts';
import { BodyWriter } from '../resolve/response/body-writer.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import { RecordTable } from '../resolve/response/record-table.ts';
import { newExpandedName } from '../resolve/response/wire-name.ts';

/** An alias that is being followed; it shares no memory with the query. */
export interface Alias {
  /** Target in lower-case wire form. */
  readonly target: Uint8Array;
  /** Header, question and the records that lead to the target. */
  readonly message: Uint8Array;
  /** Status of the answer, see `Query`. */
  readonly status: QueryStatusCode;
  readonly replyFlags: number;
  /** Whether a rule created the alias. */
  readonly isFromRule: boolean;
}

/** The outcome of resolving the target. */
export interface TargetAnswer {
  /** The answer as a message without OPT. */
  readonly message: Uint8Array;
  readonly rcode: number;
  readonly status: QueryStatusCode;
  readonly cached: number;
  readonly upstream: number;
  readonly extendedError: number;
  /** ECS scope, see `Query`. */
  readonly ecsScope: number;
  readonly dnssec: Query['dnssec'];
}

/** The outcome of a failed part, which is also the outcome of the joined answer. */
export type Failure = Pick<TargetAnswer, 'rcode' | 'status' | 'extendedError'>;

/** Maximum validation cost of a chain, in budgets, before another step starts; the last step can add one budget. */
export const MAX_CHAIN_COST = 2;

/** The chain is a loop, too long, or too costly. */
export const TOO_LONG: Failure = {
  rcode: Rcode.SERVFAIL,
  status: QueryStatus.SERVFAIL,
  extendedError: ExtendedError.OTHER,
};

/** The parts of the chain take longer than the time limit of a question. */
export const TOO_LATE: Failure = {
  rcode: Rcode.SERVFAIL,
  status: QueryStatus.TIMEOUT,
  extendedError: ExtendedError.NO_REACHABLE_AUTHORITY,
};

/** Statuses of an unanswered question. */
export function isFailure(status: QueryStatusCode): boolean {
  const { SERVFAIL, TIMEOUT, RATE_LIMITED } = QueryStatus;
  return status === SERVFAIL || status === TIMEOUT || status === RATE_LIMITED;
}

/** Whether a failure is due to the name, and not to this request's timing or a lack of resources. */
export function isLasting(failure: Failure): boolean {
  const { status, extendedError } = failure;
  return (
    failure !== TOO_LATE && status !== QueryStatus.RATE_LIMITED && extendedError !== ExtendedError.NOT_READY
  );
}

/**
 * Whether a joined answer may be cached, given the answer for its target. Local, stale and blocked answers may not be
 * cached, because they may change at any time. Private addresses of a public name may not be cached in the partition of
 * a forward zone, because they would not be checked again.
 */
export function mayKeep({ status, partition, hasPrivateAddress: isPrivate }: Query, into: number): boolean {
  if (status !== QueryStatus.ALLOWED && status !== QueryStatus.CACHED) return false;
  return !isPrivate || partition !== POOLS_PARTITION || into === POOLS_PARTITION;
}

/** Statuses from weakest to strongest: the weakest part decides. */
const BY_STRENGTH: readonly DnssecStatusCode[] = [
  DnssecStatus.bogus,
  DnssecStatus.unchecked,
  DnssecStatus.indeterminate,
  DnssecStatus.insecure,
  DnssecStatus.secure,
];

/** The weaker of two statuses; an unknown status counts as unchecked. */
export function weaker(a: DnssecStatusCode, b: number): DnssecStatusCode {
  return BY_STRENGTH.find((state) => state === a || state === b) ?? DnssecStatus.unchecked;
}

const seed = randomInt(2 ** 31);
const table = new RecordTable(seed);
const writer = new BodyWriter(seed);
const asked = newExpandedName();

/**
 * The alias and then its target's answer, as an answer to `qname`: the rcode is that of the target (RFC 6604 section
 * 3). Null if the target failed, or the joined answer is too long for a message. The lifetime of the joined answer is
 * the lifetime of its shortest-lived part.
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
  const minTtlSecs = negative && !hasSoa ? 0 : minTtl(body, ttlOffsets);
  const answerCount = leading + records;
  return {
    rcode,
    authenticated: false,
    answerCount,
    authorityCount,
    answersLength,
    body,
    ttlOffsets,
    minTtlSecs,
    negative,
    ecsScope,
  };
}

function minTtl(body: Uint8Array, ttlOffsets: Uint16Array): number {
  let min = Infinity;
  for (const at of ttlOffsets) min = Math.min(min, readU32(body, at));
  return min;
}

/** Writes a section of a message whose question is `qname`; returns the number of records; -1 = malformed. */
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
