/**
 * A question for an upstream: its identity, its query message, and the test whether a message is a response to it.
 * `response-reader.ts` reads the response.
 */
import { randomFillSync } from 'node:crypto';
import { FOLD, MAX_NAME_LENGTH } from '../../../shared/dns/name.ts';
import { EcsData } from '../../../shared/dns/ecs-option.ts';
import { OPTION_HEAD_SIZE } from '../../../shared/dns/edns-option.ts';
import { EdnsOption, RRType } from '../../../shared/dns/iana.ts';
import {
  FlagsHigh,
  FlagsLow,
  Header,
  QUESTION_TAIL_SIZE,
  UDP_PAYLOAD_SIZE,
  readU16,
  writeQuestion,
  writeU16,
} from '../../../shared/dns/wire.ts';
import { POOLS_PARTITION } from '../../../shared/snapshot/forward-zone-servers.ts';
import type { QueryMarks } from './query-marks.ts';

/**
 * Reasons, in this order: the first servers were silent for their usual time; a third party is guessing ids and has
 * found the port of the question; the answer does not fit into a datagram; the answer is SERVFAIL.
 */
export type FirstTryOutcome = 'silent' | 'exposed' | 'truncated' | 'servfail';

/** A first try of the answer thread without an answer. */
export interface FirstTry {
  readonly outcome: FirstTryOutcome;
  /** `Clock.monotonicMs` when the question arrived, from which its time limit is measured. */
  readonly sinceMs: number;
}

/** A question with the two flags and the subnet that its answer depends on. */
export interface Question {
  /** Lower-case, uncompressed wire form; the question owns the memory. */
  readonly qname: Uint8Array;
  readonly qtype: number;
  readonly qclass: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  /** Data of the ECS option to send (RFC 7871 section 6), validated; null = none. */
  readonly ecs: Uint8Array | null;
  /**
   * The network of the first client that sent the question (`ClientNetworks.key`); absent = Weir itself. The network is
   * not part of the question's identity.
   */
  readonly network?: string;
  /** Servers (`Upstream.index`) whose answers failed validation: queried after all others. Absent or empty = none. */
  readonly avoided?: ReadonlySet<number>;
  /**
   * Earlier attempt of the answer thread (`dns-worker/first-try/`). The attempt is not part of the question's identity.
   */
  readonly firstTry?: FirstTry;
}

/** Size of an OPT record: root owner, type, class, TTL, empty RDATA (RFC 6891 section 6.1.2). */
const OPT_SIZE = 11;
/** The DO bit in the third octet of OPT's TTL field (RFC 3225 section 3). */
const DO_FLAG = 0x80;

const randomIds = new Uint16Array(2048);
let nextRandomId = randomIds.length;

/** A query id from the system's CSPRNG, 0..65535 (RFC 5452 section 4.3). */
export function randomQueryId(): number {
  if (nextRandomId === randomIds.length) {
    randomFillSync(randomIds);
    nextRandomId = 0;
  }
  return randomIds[nextRandomId++]!;
}

/** Size of the end of a key: type, class, flags, cache partition. */
const KEY_TAIL_SIZE = 9;
const keyOctets = Buffer.alloc(MAX_NAME_LENGTH + KEY_TAIL_SIZE + EcsData.MAX_SIZE);

/** The flags that are part of a question's identity. */
export function identityFlags({ dnssecOk, checkingDisabled }: Question): number {
  return (dnssecOk ? 1 : 0) | (checkingDisabled ? 2 : 0);
}

/**
 * The subnet that is part of a question's identity. A subnet without an address (a request not to send the client's
 * subnet) is the same as no subnet: both use the shared cache, so they are one question.
 */
export function identityEcs({ ecs }: Question): Uint8Array | null {
  return ecs === null || ecs.length === EcsData.ADDRESS ? null : ecs;
}

/** Text that identifies a question in one cache partition: equal only for identical questions. */
export function questionKey(question: Question, partition: number = POOLS_PARTITION): string {
  const { qname, qtype, qclass, avoided } = question;
  let end = qname.length;
  keyOctets.set(qname);
  keyOctets[end++] = qtype >>> 8;
  keyOctets[end++] = qtype;
  keyOctets[end++] = qclass >>> 8;
  keyOctets[end++] = qclass;
  keyOctets[end++] = identityFlags(question);
  end = keyOctets.writeInt32BE(partition, end);
  const ecs = identityEcs(question);
  if (ecs !== null) {
    keyOctets.set(ecs, end);
    end += ecs.length;
  }
  // The key is built in one piece: V8 would flatten a concatenated string at each map lookup.
  const key = keyOctets.toString('latin1', 0, end);
  return avoided === undefined || avoided.size === 0 ? key : `${key} ${[...avoided].sort().join()}`;
}

/** Form of the query message for a question. */
export interface QueryForm {
  /** False omits the OPT record, for servers that answer FORMERR to it (RFC 6891 section 7). */
  readonly edns: boolean;
  /** Letter case and cookie that the reply must repeat; null = the question's own name, no cookie. */
  readonly marks: QueryMarks | null;
  /** The message is padded to a multiple of this many octets (RFC 8467 section 4.1); 0 = no padding. */
  readonly padTo: number;
}

/**
 * The query message for an upstream: RD set, DO and CD as in the question. Without EDNS, it has no DO bit, subnet,
 * cookie or padding. Other parts of a client's OPT record are not forwarded.
 */
export function encodeQuery(question: Question, id: number, form: QueryForm): Buffer {
  const unpadded = unpaddedSize(question, form);
  const isPadded = form.edns && form.padTo > 0;
  const size = isPadded ? Math.ceil((unpadded + OPTION_HEAD_SIZE) / form.padTo) * form.padTo : unpadded;
  const query = Buffer.allocUnsafe(size);
  writeQuery(query, size, question, id, form);
  return query;
}

/** Bytes of a query message without padding. */
export function unpaddedSize({ qname, ecs }: Question, { edns, marks }: QueryForm): number {
  const opt = Header.SIZE + qname.length + QUESTION_TAIL_SIZE;
  const cookie = marks?.cookie ?? null;
  const cookieSize = cookie === null ? 0 : OPTION_HEAD_SIZE + cookie.length;
  const ecsSize = ecs === null ? 0 : OPTION_HEAD_SIZE + ecs.length;
  return opt + (edns ? OPT_SIZE + cookieSize + ecsSize : 0);
}

/** Writes the query message of `size` bytes to the start of `query`; see `encodeQuery`. */
export function writeQuery(
  query: Uint8Array,
  size: number,
  question: Question,
  id: number,
  form: QueryForm,
): void {
  const { edns, marks } = form;
  const { qname, ecs } = question;
  const opt = Header.SIZE + qname.length + QUESTION_TAIL_SIZE;
  const cookie = marks?.cookie ?? null;
  const unpadded = unpaddedSize(question, form);
  const isPadded = size > unpadded;
  query.fill(0, 0, size);
  writeU16(query, Header.ID, id);
  query[Header.FLAGS_HIGH] = FlagsHigh.RD;
  query[Header.FLAGS_LOW] = question.checkingDisabled ? FlagsLow.CD : 0;
  query[Header.QDCOUNT + 1] = 1;
  writeQuestion(query, marks?.name ?? qname, question.qtype, question.qclass);
  if (!edns) return;
  query[Header.ARCOUNT + 1] = 1;
  writeU16(query, opt + 1, RRType.OPT);
  writeU16(query, opt + 3, UDP_PAYLOAD_SIZE);
  if (question.dnssecOk) query[opt + 7] = DO_FLAG;
  writeU16(query, opt + OPT_SIZE - 2, size - opt - OPT_SIZE);
  if (cookie !== null) putOption(query, opt + OPT_SIZE, EdnsOption.COOKIE, cookie);
  if (ecs !== null) putOption(query, unpadded - OPTION_HEAD_SIZE - ecs.length, EdnsOption.ECS, ecs);
  if (isPadded) {
    writeU16(query, unpadded, EdnsOption.PADDING);
    writeU16(query, unpadded + 2, size - unpadded - OPTION_HEAD_SIZE);
  }
}

function putOption(message: Uint8Array, at: number, code: number, data: Uint8Array): void {
  writeU16(message, at, code);
  writeU16(message, at + 2, data.length);
  message.set(data, at + OPTION_HEAD_SIZE);
}

/**
 * Whether a message is a response with exactly this question: QR, opcode QUERY, one question with the same name
 * (ignoring ASCII case, uncompressed), type and class. The exchange compares the id.
 */
export function isResponseTo(message: Uint8Array, question: Question): boolean {
  const { qname } = question;
  const tail = Header.SIZE + qname.length;
  if (message.length < tail + QUESTION_TAIL_SIZE) return false;
  if ((message[Header.FLAGS_HIGH]! & (FlagsHigh.QR | FlagsHigh.OPCODE)) !== FlagsHigh.QR) return false;
  if (readU16(message, Header.QDCOUNT) !== 1) return false;
  if (readU16(message, tail) !== question.qtype || readU16(message, tail + 2) !== question.qclass)
    return false;
  for (let i = 0; i < qname.length; i++) {
    if (FOLD[message[Header.SIZE + i]!] !== qname[i]) return false;
  }
  return true;
}
