/**
 * A normalised answer in the form that the validator needs: RRsets with their signatures, RDATA in canonical form (RFC
 * 4034 section 6.2: names expanded and, for the types listed there, in lower case). The validator decides what the
 * records prove.
 */
import { FOLD, MAX_NAME_LENGTH } from '../../shared/dns/name.ts';
import { RRType } from '../../shared/dns/iana.ts';
import { Header, QUESTION_TAIL_SIZE, Record, readU16, readU32 } from '../../shared/dns/wire.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import { answerImage } from '../resolve/response/without-proofs.ts';
import { expandRdataName, firstNameAt, rdataLayout } from '../resolve/response/rdata-layout.ts';
import { expandName, newExpandedName, sameName } from '../resolve/response/wire-name.ts';
import { foldedName, type Name, nameKey } from './names.ts';
import { readRrsig, type Rrsig } from './rrsig.ts';

/** An RRset with the signatures that came with it. */
export interface SignedRRset {
  readonly owner: Name;
  readonly type: number;
  readonly isAnswer: boolean;
  /** Smallest TTL of the records in the RRset, in seconds. */
  ttlSecs: number;
  /** RDATA in canonical form, in the order received. */
  readonly rdatas: Uint8Array[];
  readonly signatures: Rrsig[];
  /** Offsets of the TTLs of the RRset's records and signatures in the answer's body. */
  readonly ttlOffsets: number[];
}

const expanded = newExpandedName();
/** Buffer for RDATA in canonical form: the maximum size of RDATA, plus two names. */
const canonical = new Uint8Array(0x1_0000 + 2 * MAX_NAME_LENGTH);
const NO_NAME: Name = new Uint8Array(0);
/** All RR types are lower than this number. */
const TYPES = 0x1_0000;

/** The RRsets of an answer to a question for `qname`, in order of their first record. */
export function readRRsets(qname: Name, answer: CacheableAnswer): SignedRRset[] {
  const image = answerImage(qname, answer);
  const bodyAt = Header.SIZE + qname.length + QUESTION_TAIL_SIZE;
  const sets = new Map<number, SignedRRset>();
  const signatures: { key: number; rrsig: Rrsig; ttlOffset: number }[] = [];
  const owners = new Map<string, number>();
  let owner: Name = NO_NAME;
  let ownerNumber = 0;
  let at = bodyAt;
  for (let i = 0; i < answer.answerCount + answer.authorityCount; i++) {
    if (!expandName(image, at, expanded)) throw malformed();
    if (!sameName(expanded.wire, expanded.length, owner, owner.length)) {
      owner = foldedCopy();
      ownerNumber = numberOf(owner, owners);
    }
    const fixed = expanded.next;
    const type = readU16(image, fixed + Record.TYPE);
    const rdataAt = fixed + Record.RDATA;
    at = rdataAt + readU16(image, fixed + Record.RDLENGTH);
    const isAnswer = i < answer.answerCount;
    const ttlOffset = fixed + Record.TTL - bodyAt;
    const place = (ownerNumber * 2 + (isAnswer ? 1 : 0)) * TYPES;
    if (type === RRType.RRSIG) {
      const rrsig = readRrsig(image.subarray(rdataAt, at));
      if (rrsig !== null) signatures.push({ key: place + rrsig.typeCovered, rrsig, ttlOffset });
      continue;
    }
    const key = place + type;
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

/** Returns the index of an owner; owners are numbered in the order in which they appear. */
function numberOf(owner: Name, owners: Map<string, number>): number {
  const key = nameKey(owner);
  const known = owners.get(key);
  if (known !== undefined) return known;
  owners.set(key, owners.size);
  return owners.size - 1;
}

/**
 * RDATA in canonical form (RFC 4034 section 6.2; RFC 6840 section 5.1: names in NSEC keep their case). The result
 * shares memory with `image` unless the type contains names.
 */
function canonicalRdata(image: Uint8Array, type: number, from: number, end: number): Uint8Array {
  const layout = rdataLayout(type);
  if (layout === undefined) return image.subarray(from, end);
  let at = firstNameAt(image, layout, from, end);
  if (at < 0) throw malformed();
  let length = copy(image, from, at, 0);
  for (let i = 0; i < layout.names; i++) {
    if (!expandRdataName(image, at, end, expanded)) throw malformed();
    for (let j = 0; j < expanded.length; j++) canonical[length++] = FOLD[expanded.wire[j]!]!;
    at = expanded.next;
  }
  length = copy(image, at, end, length);
  return canonical.slice(0, length);
}

/** Appends bytes of the image to the canonical form; returns the new length. */
function copy(image: Uint8Array, from: number, end: number, length: number): number {
  for (let at = from; at < end; at++) canonical[length++] = image[at]!;
  return length;
}

function foldedCopy(): Name {
  return foldedName(expanded.wire, 0, expanded.length);
}

function malformed(): Error {
  return new Error('could not read the records of an answer: its normalised form is malformed');
}
