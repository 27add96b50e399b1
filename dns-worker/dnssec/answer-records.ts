/**
 * A normalised answer as the validator needs it: RRsets with their signatures, RDATA in canonical form (RFC 4034
 * section 6.2: names expanded and, for the types listed there, folded). The validator decides what they prove.
 */
import { FOLD } from '../../shared/dns/name.ts';
import { RRType } from '../../shared/dns/iana.ts';
import { Header, QUESTION_TAIL_SIZE, Record, readU16, readU32 } from '../../shared/dns/wire.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import { expandRdataName, firstNameAt, rdataLayout } from '../resolve/response/rdata-layout.ts';
import { expandName, newExpandedName } from '../resolve/response/wire-name.ts';
import { type Name, nameKey } from './names.ts';
import { readRrsig, type Rrsig } from './rrsig.ts';

/** An RRset with the signatures that came with it. */
export interface SignedRRset {
  readonly owner: Name;
  readonly type: number;
  readonly isAnswer: boolean;
  /** The smallest one of its records, seconds. */
  ttlSecs: number;
  /** Canonical form, in the order received. */
  readonly rdatas: Uint8Array[];
  readonly signatures: Rrsig[];
  /** Where the TTLs of its records and signatures stand in the answer's body. */
  readonly ttlOffsets: number[];
}

const expanded = newExpandedName();

/** The message of an answer, as far as Weir keeps it: a header that the caller fills, the question, the records. */
export function answerImage(qname: Name, answer: CacheableAnswer): Uint8Array {
  const bodyAt = Header.SIZE + qname.length + QUESTION_TAIL_SIZE;
  const image = new Uint8Array(bodyAt + answer.body.length);
  image.set(qname, Header.SIZE);
  image.set(answer.body, bodyAt);
  return image;
}

/** The RRsets of an answer to a question for `qname`, in order of their first record. */
export function readRRsets(qname: Name, answer: CacheableAnswer): SignedRRset[] {
  const image = answerImage(qname, answer);
  const bodyAt = Header.SIZE + qname.length + QUESTION_TAIL_SIZE;
  const sets = new Map<string, SignedRRset>();
  const signatures: { key: string; rrsig: Rrsig; ttlOffset: number }[] = [];
  let at = bodyAt;
  for (let i = 0; i < answer.answerCount + answer.authorityCount; i++) {
    if (!expandName(image, at, expanded)) throw malformed();
    const owner = foldedCopy();
    const fixed = expanded.next;
    const type = readU16(image, fixed + Record.TYPE);
    const rdataAt = fixed + Record.RDATA;
    at = rdataAt + readU16(image, fixed + Record.RDLENGTH);
    const isAnswer = i < answer.answerCount;
    const ttlOffset = fixed + Record.TTL - bodyAt;
    const place = nameKey(owner) + (isAnswer ? '+' : '-');
    if (type === RRType.RRSIG) {
      const rrsig = readRrsig(image.subarray(rdataAt, at));
      if (rrsig !== null)
        signatures.push({ key: place + String.fromCharCode(rrsig.typeCovered), rrsig, ttlOffset });
      continue;
    }
    const key = place + String.fromCharCode(type);
    let set = sets.get(key);
    if (set === undefined) {
      set = { owner, type, isAnswer, ttlSecs: 0x7fffffff, rdatas: [], signatures: [], ttlOffsets: [] };
      sets.set(key, set);
    }
    set.ttlSecs = Math.min(set.ttlSecs, readU32(image, fixed + Record.TTL));
    set.rdatas.push(canonicalRdata(image, type, rdataAt, at));
    set.ttlOffsets.push(ttlOffset);
  }
  for (const { key, rrsig, ttlOffset } of signatures) {
    const set = sets.get(key);
    set?.signatures.push(rrsig);
    set?.ttlOffsets.push(ttlOffset);
  }
  return [...sets.values()];
}

/** RFC 4034 section 6.2 with RFC 6840 section 5.1: the names in NSEC keep their case. */
function canonicalRdata(image: Uint8Array, type: number, from: number, end: number): Uint8Array {
  const layout = rdataLayout(type);
  if (layout === undefined) return image.slice(from, end);
  let at = firstNameAt(image, layout, from, end);
  if (at < 0) throw malformed();
  const parts: Uint8Array[] = [image.subarray(from, at)];
  for (let i = 0; i < layout.names; i++) {
    if (!expandRdataName(image, at, end, expanded)) throw malformed();
    parts.push(foldedCopy());
    at = expanded.next;
  }
  parts.push(image.subarray(at, end));
  return Buffer.concat(parts);
}

function foldedCopy(): Uint8Array {
  return expanded.wire.slice(0, expanded.length).map((byte) => FOLD[byte]!);
}

function malformed(): Error {
  return new Error('read records of an answer: its own normalised form is malformed');
}
