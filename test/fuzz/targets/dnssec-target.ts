/**
 * Parts of validation that parse untrusted bytes: an answer as RRsets, keys, digests, signatures, denials. Nothing
 * throws, no denial proves the absence of a name that has records, and work stays within the budget of a question.
 */
import { denialOf } from '../../../dns-worker/dnssec/denial.ts';
import { Budget } from '../../../dns-worker/dnssec/budget.ts';
import { readRRsets } from '../../../dns-worker/dnssec/answer-records.ts';
import type { SignedRRset } from '../../../dns-worker/dnssec/answer-records.ts';
import { digestMatches, Dnskey, readDs, usableDs } from '../../../dns-worker/dnssec/dnskey.ts';
import {
  compareNames,
  isAtOrBelow,
  isSame,
  labelCount,
  readPlainName,
  wildcardBelow,
} from '../../../dns-worker/dnssec/names.ts';
import type { Name } from '../../../dns-worker/dnssec/names.ts';
import { readRrsig, timeFault } from '../../../dns-worker/dnssec/rrsig.ts';
import { signedData } from '../../../dns-worker/dnssec/signature.ts';
import { TypeBitmap } from '../../../dns-worker/dnssec/type-bitmap.ts';
import { readResponse } from '../../../dns-worker/resolve/response/response-reader.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import { keyTag, withoutRevocation } from '../../../shared/dns/dnskey-rdata.ts';
import { octets, question, response, rrsig, soa, wireName } from '../../support/dns/built-messages.ts';
import { hold, InputReader } from '../target.ts';
import type { Target } from '../target.ts';

const NOW_SECS = 1_790_000_000;
const ZONE = wireName('example');
const QNAMES = ['a.example', 'b.a.example', 'example', 'ns1.example', 'x.w.example'].map(wireName);
const ASKED = question('a.example', 'A', { dnssecOk: true });
const BITMAP = Uint8Array.of(0, 7, 0x62, 0x01, 0x80, 0x08, 0, 0x03, 0x80);

/** The parser of each kind of record; the last parses a complete answer. */
const KINDS = [readKey, readDigest, readSignature, readBitmap, readNames, readDenial, readAnswer] as const;

function readKey(rdata: Uint8Array): void {
  const key = Dnskey.read(rdata);
  if (key === null) return;
  hold(key.tag === keyTag(rdata) && key.tag <= 0xffff, 'the tag is wrong');
  hold(!(key.isZoneKey && key.isRevoked), 'a revoked key signs');
  hold(key.verifyInput === null || key.verifyInput.key.type === 'public', 'the key is not a public key');
  hold(withoutRevocation(rdata).length === rdata.length, 'the key has a different length');
}

function readDigest(rdata: Uint8Array): void {
  const ds = readDs(rdata);
  if (ds === null) return;
  hold(usableDs([ds]).length <= 1, 'one digest became several');
  const key = Dnskey.read(Uint8Array.of(1, 1, 3, 13, 1, 2, 3))!;
  hold(!digestMatches(ds, ZONE, key) || ds.digest.length >= 20, 'a short digest matches');
}

function readSignature(rdata: Uint8Array): void {
  const read = readRrsig(rdata);
  if (read === null) return;
  timeFault(read, NOW_SECS);
  hold(read.signer.length + read.signature.length + 18 === rdata.length, 'bytes of the signature are lost');
  const set = setOf(wireName('b.a.example'), RRType.A, [
    Uint8Array.of(1, 2, 3, 4),
    Uint8Array.of(1, 2, 3, 4),
  ]);
  if (read.labels <= labelCount(set.owner)) {
    const data = signedData(set, read);
    hold(data.length < rdata.length + 100, 'duplicates are signed');
  }
}

function readBitmap(rdata: Uint8Array): void {
  const bitmap = TypeBitmap.read(rdata);
  if (bitmap === null) return;
  for (const type of [RRType.A, RRType.DS, RRType.NS, 257, 65535])
    hold(!(bitmap.has(type) && bitmap.denies(type, false)), 'a type that exists is denied');
  hold(!bitmap.isEmpty || !bitmap.has(RRType.A), 'an empty one has types');
}

function readNames(rdata: Uint8Array): void {
  const first = readPlainName(rdata, 0);
  const second = first === null ? null : readPlainName(rdata, first.length);
  if (first === null || second === null) return;
  const order = compareNames(first, second);
  hold(Math.sign(order) === -Math.sign(compareNames(second, first)), 'the order is not antisymmetric');
  hold((order === 0) === isSame(first, second), 'equal names compare as different');
  hold(!isAtOrBelow(first, second) || order >= 0, 'a name comes before its parent');
  const wildcard = wildcardBelow(first);
  hold(
    wildcard === null || labelCount(wildcard) === labelCount(first) + 1,
    'the wildcard is at another name',
  );
}

/** Denials of a zone: an owner, a length byte, then RDATA, repeated to the end. */
function readDenial(input: Uint8Array): void {
  const sets: SignedRRset[] = [];
  const type = ((input[0] ?? 0) & 1) === 0 ? RRType.NSEC : RRType.NSEC3;
  for (let at = 1; at < input.length && sets.length < 20;) {
    const owner = readPlainName(input, at);
    if (owner === null) break;
    at += owner.length;
    const end = Math.min(input.length, at + 1 + (input[at] ?? 0));
    sets.push(setOf(owner, type, [input.slice(at + 1, end)]));
    at = end;
  }
  checkDenial(sets, ZONE);
}

function checkDenial(sets: readonly SignedRRset[], zone: Name): void {
  const budget = new Budget(Infinity);
  const denial = denialOf(sets, zone, budget);
  if (denial === null) return;
  for (const qname of QNAMES) {
    const exists = sets.some(({ owner, type }) => type === RRType.NSEC && isSame(owner, qname));
    const nameError = denial.nameError(qname);
    const noData = [RRType.A, RRType.DS].map((type) => denial.noData(qname, type));
    const own = sets.find(({ owner, type }) => type === RRType.NSEC && isSame(owner, qname));
    const isWhole = own !== undefined && own.rdatas.length === 1 && isReadable(own.rdatas[0]!);
    if (exists && isWhole && sets.length === 1)
      hold(nameError !== 'proven', 'the one name that exists is proven to be missing');
    if (isWhole && sets.length === 1 && isListed(own.rdatas[0]!, RRType.A))
      hold(noData[0] !== 'proven', 'data that exist are proven to be missing');
    denial.wildcardAnswer(qname, Math.max(0, labelCount(qname) - 1));
    denial.delegation(qname);
  }
}

function isReadable(rdata: Uint8Array): boolean {
  const next = readPlainName(rdata, 0);
  return next !== null && TypeBitmap.read(rdata.subarray(next.length)) !== null;
}

function isListed(rdata: Uint8Array, type: number): boolean {
  const next = readPlainName(rdata, 0)!;
  return TypeBitmap.read(rdata.subarray(next.length))!.has(type);
}

function readAnswer(input: Uint8Array): void {
  const head = octets([0, 0, 0x81, 0x80, 0, 1], input.subarray(0, 6), ASKED.qname, [0, 1, 0, 1]);
  const reading = readResponse(octets(head, input.subarray(6)), ASKED);
  if (reading.kind !== 'answer') return;
  const { answer } = reading;
  const sets = readRRsets(ASKED.qname, answer);
  const records = sets.reduce((sum, { ttlOffsets }) => sum + ttlOffsets.length, 0);
  hold(records <= answer.answerCount + answer.authorityCount, 'there are more records than in the answer');
  for (const set of sets) {
    hold(set.ttlSecs <= 0x7fffffff && set.rdatas.length > 0, 'a set is empty');
    for (const signature of set.signatures)
      if (signature.labels <= labelCount(set.owner)) signedData(set, signature);
  }
  checkDenial(sets, ZONE);
}

function setOf(owner: Name, type: number, rdatas: Uint8Array[]): SignedRRset {
  return { owner, type, isAnswer: false, ttlSecs: 60, rdatas, signatures: [], ttlOffsets: [] };
}

function run(input: Uint8Array): void {
  const reader = new InputReader(input);
  reader.of(KINDS)(reader.rest());
}

/** An input of a kind. */
function of(kind: (typeof KINDS)[number], ...parts: Uint8Array[]): Uint8Array {
  return octets([KINDS.indexOf(kind)], ...parts);
}

function denialRecord(owner: string, rdata: Uint8Array): Uint8Array {
  return octets(wireName(owner), [rdata.length], rdata);
}

const NSEC3_OWNER = '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.example';
const NSEC3 = octets([1, 0, 0, 12, 4, 0xaa, 0xbb, 0xcc, 0xdd, 20], new Uint8Array(20).fill(0x42), BITMAP);

/** Seeds: valid records and answers. */
export const target: Target = {
  maxLength: 900,
  seeds: () => {
    const answer = response(ASKED, {
      answers: [
        { owner: 'a.example', type: 'A', ttl: 60, rdata: Uint8Array.of(1, 2, 3, 4) },
        rrsig('a.example', 'A'),
      ],
      authorities: [
        soa('example', 60, 30),
        rrsig('example', 'SOA'),
        { owner: 'example', type: 'NSEC', ttl: 60, rdata: octets(wireName('b.example'), BITMAP) },
        { owner: NSEC3_OWNER, type: 'NSEC3', ttl: 60, rdata: NSEC3 },
        rrsig('example', 'NSEC'),
      ],
    });
    const at = 12 + ASKED.qname.length + 4;
    return [
      of(readKey, Uint8Array.of(1, 1, 3, 13), new Uint8Array(64).fill(9)),
      of(readKey, Uint8Array.of(1, 0, 3, 8, 3, 1, 0, 1), new Uint8Array(128).fill(0xa7)),
      of(readKey, Uint8Array.of(1, 0x81, 3, 15), new Uint8Array(32).fill(7)),
      of(readDigest, Uint8Array.of(0, 7, 13, 2), new Uint8Array(32).fill(1)),
      of(readSignature, rrsig('a.example', 'A').rdata),
      of(readBitmap, BITMAP),
      of(readNames, wireName('a.example'), wireName('*.a.example')),
      of(
        readDenial,
        Uint8Array.of(0),
        denialRecord('a.example', octets(wireName('ns1.example'), BITMAP)),
        denialRecord('ns1.example', octets(ZONE, BITMAP)),
      ),
      of(
        readDenial,
        Uint8Array.of(1),
        denialRecord(NSEC3_OWNER, NSEC3),
        denialRecord('2t7b4g4vsa5smi47k61mv5bv1a22bojr.example', NSEC3),
      ),
      of(readAnswer, answer.subarray(6, 12), answer.subarray(at)),
    ];
  },
  dictionary: [
    ZONE,
    BITMAP,
    wireName('*.example'),
    Uint8Array.of(0, 47, 0, 1),
    Uint8Array.of(0, 50, 0, 1),
    Uint8Array.of(0, 46, 0, 1),
  ],
  run,
};
