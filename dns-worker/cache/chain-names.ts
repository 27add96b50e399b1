/**
 * The names that an answer refers to: targets of CNAME, DNAME, SVCB and HTTPS records. Reads answers that
 * `response-reader.ts` has normalised, so their form is valid; records of other types are skipped.
 */
import { FOLD, MAX_LABEL_LENGTH, MAX_NAME_LENGTH } from '../../shared/dns/name.ts';
import { RRType } from '../../shared/dns/iana.ts';
import { Record, readU16, skipName } from '../../shared/dns/wire.ts';
import type { Query } from '../query/query.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';

/** Upper bits of a compression pointer (RFC 1035 section 4.1.4). */
const POINTER = 0xc0;
/** Size of the fields before the target of an SVCB record (RFC 9460 section 2.2). */
const SVC_PRIORITY_SIZE = 2;
/** Size of the key and the length of a parameter. */
export const SVC_PARAM_HEAD = 4;
/** Keys of parameters that contain addresses (RFC 9460 section 14.3.2). */
export const AddressHint = { IPV4: 4, IPV6: 6 } as const;

/** Whether a record of the answer section refers to another name. */
export function leadsToNames(answer: Pick<CacheableAnswer, 'body' | 'answerCount'>): boolean {
  const { body, answerCount } = answer;
  let at = 0;
  for (let left = answerCount; left > 0; left--) {
    const fields = skipName(body, at, body.length);
    if (fields < 0 || fields + Record.RDATA > body.length) return false;
    if (targetOffset(readU16(body, fields + Record.TYPE)) >= 0) return true;
    at = fields + Record.RDATA + readU16(body, fields + Record.RDLENGTH);
  }
  return false;
}

/** Offset of the target in the RDATA of a type; -1 = the type has no target. */
export function targetOffset(type: number): number {
  if (type === RRType.CNAME || type === RRType.DNAME) return 0;
  return type === RRType.HTTPS || type === RRType.SVCB ? SVC_PRIORITY_SIZE : -1;
}

/**
 * Reads the name at offset `at` of `bytes`, and stores it in lower case as the qname of `into`; compression pointers
 * are offsets from `messageAt`. Returns false if the name is not valid.
 */
export function readTarget(
  bytes: Uint8Array,
  messageAt: number,
  at: number,
  end: number,
  into: Query,
): boolean {
  const { qname, labelAt } = into;
  let length = 0;
  let labels = 0;
  let offset = at;
  for (let hops = 0; ;) {
    if (offset >= end) return false;
    const size = bytes[offset]!;
    if (size >= POINTER) {
      if (++hops > MAX_LABEL_LENGTH) return false;
      offset = messageAt + (readU16(bytes, offset) & 0x3fff);
      continue;
    }
    if (size > MAX_LABEL_LENGTH || length + size + 2 > MAX_NAME_LENGTH + 1) return false;
    qname[length] = size;
    if (size === 0) break;
    labelAt[labels++] = length;
    for (let i = 1; i <= size; i++) qname[length + i] = FOLD[bytes[offset + i]!]!;
    length += size + 1;
    offset += size + 1;
  }
  into.isAddress = false;
  into.qnameLength = length + 1;
  into.labelCount = labels;
  return true;
}

/**
 * Offset of the next address parameter (key, length and value) in the SVCB or HTTPS RDATA from `rdata` to `end`: the
 * first one after the parameter at `after`, or the first of all if `after` is 0. 0 = no more parameters.
 */
export function nextAddressHint(bytes: Uint8Array, rdata: number, end: number, after: number): number {
  let at =
    after === 0
      ? skipName(bytes, rdata + SVC_PRIORITY_SIZE, end)
      : after + SVC_PARAM_HEAD + readU16(bytes, after + 2);
  while (at > 0 && at + SVC_PARAM_HEAD <= end) {
    const key = readU16(bytes, at);
    const next = at + SVC_PARAM_HEAD + readU16(bytes, at + 2);
    if (next > end) return 0;
    if (key === AddressHint.IPV4 || key === AddressHint.IPV6) return at;
    at = next;
  }
  return 0;
}
