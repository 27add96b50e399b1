/**
 * Faulty answers of an upstream. The seed and the number in the queried name determine the fault, so every resolver
 * gets the same answer. Names that start with `t` are targets of aliases and get valid answers.
 */
import { RRType } from '../../shared/dns/iana.ts';
import { octets, u16, u32, wireName } from '../support/dns/built-messages.ts';
import { Random } from '../fuzz/seeded-random.ts';

/** The zone of all names. */
export const ZONE = 'differential.example';
const QNAME = Uint8Array.of(0xc0, 12);
const SOA = octets(wireName(`ns.${ZONE}`), wireName(`root.${ZONE}`), u32(1), u32(2), u32(3), u32(4), u32(60));
const NOERROR = 0x8180;
const NXDOMAIN = 3;
const TYPES = ['A', 'A', 'A', 'AAAA', 'TXT', 'MX', 'CNAME', 'SRV', 'HTTPS'] as const;

interface Part {
  section: 0 | 1 | 2;
  owner: Uint8Array;
  type: number;
  rrClass: number;
  ttl: number;
  rdata: Uint8Array;
  /** Added to the length field of the record, to make it wrong. */
  lengthError: number;
}

interface Draft {
  readonly index: number;
  readonly qtype: (typeof TYPES)[number];
  /** The bytes of the queried name, including its letter case. */
  readonly asked: Uint8Array;
  readonly id: number;
  idError: number;
  flags: number;
  readonly countErrors: [number, number, number, number];
  questions: Uint8Array[];
  parts: Part[];
  tail: Uint8Array;
  cut: number;
  flips: number;
}

type Change = (draft: Draft, random: Random) => void;

/** The queried type for a number. */
export function typeOf(seed: number, index: number): (typeof TYPES)[number] {
  return randomOf(seed, index).of(TYPES);
}

/** The kinds of faults in the answer for a number, in readable form. */
export function kindsOf(seed: number, index: number): string {
  const random = randomOf(seed, index);
  random.of(TYPES);
  return chosen(random).join(' + ');
}

/** The answer to a query for a numbered name. */
export function mutatedAnswer(seed: number, index: number, query: Uint8Array): Uint8Array {
  const random = randomOf(seed, index);
  const draft = goodDraft(index, random.of(TYPES), query);
  for (const kind of chosen(random)) KINDS[kind]!(draft, random);
  return written(draft, random);
}

/** The valid answer to a query: an address, or NODATA for other types. */
export function goodAnswer(query: Uint8Array): Uint8Array {
  const index = 0;
  const draft = goodDraft(index, 'A', query);
  const isAddress = draft.questions[0]!.at(-3) === RRType.A;
  draft.parts = isAddress ? draft.parts : [soaPart()];
  return written(draft, new Random(0));
}

/** An answer that ends the wait of a resolver which has rejected the faulty answer. */
export function failure(query: Uint8Array): Uint8Array {
  const draft = goodDraft(0, 'A', query);
  draft.parts = [];
  draft.flags = NOERROR | 2;
  return written(draft, new Random(0));
}

function randomOf(seed: number, index: number): Random {
  return new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
}

/** The kinds of faults of an answer: usually one, sometimes two. */
function chosen(random: Random): string[] {
  const names = Object.keys(KINDS);
  const first = random.of(names);
  return random.once(4) ? [first, random.of(names)] : [first];
}

function goodDraft(index: number, qtype: Draft['qtype'], query: Uint8Array): Draft {
  let end = 12;
  // The reader must not assume a valid message, because the port receives any data, such as a datagram that ends in the
  // middle of a name.
  while ((query[end] ?? 0) !== 0) end += query[end]! + 1;
  const asked = query.slice(12, end + 1);
  return {
    index,
    qtype,
    asked,
    id: (query[0]! << 8) | query[1]!,
    idError: 0,
    flags: NOERROR,
    countErrors: [0, 0, 0, 0],
    questions: [query.slice(12, end + 5)],
    parts: [partOf(qtype, index), partOf(qtype, index + 1)].slice(0, qtype === 'CNAME' ? 1 : 2),
    tail: new Uint8Array(0),
    cut: 0,
    flips: 0,
  };
}

function partOf(type: Draft['qtype'], index: number): Part {
  const target = wireName(`t${String(index)}.${ZONE}`);
  const rdata = {
    A: Uint8Array.of(192, 0, 2, 1 + (index % 250)),
    AAAA: octets([0x20, 1, 0x0d, 0xb8], new Uint8Array(11), [1 + (index % 250)]),
    TXT: octets([4], Buffer.from('text'), [1, index % 256]),
    MX: octets([0, 5], target),
    CNAME: target,
    SRV: octets([0, 1, 0, 2, 0, 53], target),
    HTTPS: octets([0, 1, 0, 0, 1, 0, 3, 2, 0x68, 0x32]),
  }[type];
  return { section: 0, owner: QNAME, type: RRType[type], rrClass: 1, ttl: 300, rdata, lengthError: 0 };
}

function soaPart(): Part {
  const owner = wireName(ZONE);
  return { section: 1, owner, type: RRType.SOA, rrClass: 1, ttl: 60, rdata: SOA, lengthError: 0 };
}

function optPart(rdata: Uint8Array = new Uint8Array(0)): Part {
  return {
    section: 2,
    owner: Uint8Array.of(0),
    type: RRType.OPT,
    rrClass: 1232,
    ttl: 0,
    rdata,
    lengthError: 0,
  };
}

function aliasPart(owner: Uint8Array, target: string): Part {
  return { ...partOf('CNAME', 0), owner, rdata: wireName(target) };
}

/** A random record of the answer under construction; adds a valid record if the answer has none. */
function onePart(draft: Draft, random: Random): Part {
  if (draft.parts.length === 0) draft.parts.push(partOf(draft.qtype, draft.index));
  return random.of(draft.parts);
}

const KINDS: Readonly<Record<string, Change>> = {
  nothing: () => undefined,
  'another id': (draft, random) => (draft.idError = 1 + random.below(0xffff)),
  'a flag': (draft, random) => (draft.flags ^= 1 << random.below(16)),
  'another rcode': (draft, random) => (draft.flags = (draft.flags & 0xfff0) | random.below(16)),
  TC: (draft) => (draft.flags |= 0x0200),
  'no QR': (draft) => (draft.flags &= 0x7fff),
  'another question': (draft, random) => {
    const other = draft.questions[0]?.slice() ?? draft.asked.slice();
    // Changes a byte of the name, the type or the class.
    const at = random.of([1, other.length - 3, other.length - 1]);
    other[at]! ^= 1 + random.below(30);
    draft.questions = [other];
  },
  'another number of questions': (draft, random) =>
    (draft.questions = random.once(2) ? [] : [...draft.questions, ...draft.questions]),
  'a count': (draft, random) => (draft.countErrors[random.below(4)] = random.of([-1, 1, 2, 255, 0x7fff])),
  'the length of a record': (draft, random) =>
    (onePart(draft, random).lengthError = random.of([-4, -2, -1, 1, 2, 4, 100, 0x7f00])),
  'data too short or too long': (draft, random) => {
    const part = onePart(draft, random);
    part.rdata = random.once(2)
      ? part.rdata.slice(0, random.below(part.rdata.length + 1))
      : octets(part.rdata, [1, 2]);
  },
  'a pointer as owner': (draft, random) => {
    const to = random.of([0, 1, 4, 11, 13, 30, 40, 60, 200, 0x3fff]);
    onePart(draft, random).owner = Uint8Array.of(0xc0 | (to >> 8), to & 255);
  },
  'a pointer in data': (draft, random) => {
    const to = random.of([0, 12, 13, 40, 50, 0x3fff]);
    draft.parts.push({ ...partOf('CNAME', 0), rdata: Uint8Array.of(0xc0 | (to >> 8), to & 255) });
  },
  'an odd label': (draft, random) =>
    (onePart(draft, random).owner = random.of([
      Uint8Array.of(0x40, 1, 0),
      Uint8Array.of(0x80, 1, 0),
      octets([63], new Uint8Array(63).fill(0x61), [63], new Uint8Array(63).fill(0x62), QNAME),
      octets(...Array.from({ length: 5 }, () => octets([63], new Uint8Array(63).fill(0x61))), [0]),
      octets([3, 0x61, 0x2e, 0], QNAME),
    ])),
  'records of another name': (draft, random) => {
    const owner = wireName(
      random.of(['www.victim.example', ZONE, 'example', '.', `x${String(draft.index)}.${ZONE}`]),
    );
    const part = { ...partOf('A', draft.index), owner, section: random.below(3) as 0 | 1 | 2 };
    draft.parts = random.once(2) ? [part] : [...draft.parts, part];
  },
  'another class': (draft, random) => (onePart(draft, random).rrClass = random.of([0, 3, 4, 254, 255])),
  'another type': (draft, random) =>
    (onePart(draft, random).type = random.of([0, 2, 6, 12, 41, 46, 47, 250, 255, 65280])),
  'a TTL': (draft, random) =>
    (onePart(draft, random).ttl = random.of([0, 1, 0x7fffffff, 0x80000000, 0xffffffff])),
  'an alias': (draft, random) => {
    const target = `t${String(draft.index)}.${ZONE}`;
    const part = { ...partOf('A', draft.index), owner: wireName(target) };
    draft.parts = random.once(2) ? [aliasPart(QNAME, target), part] : [part, aliasPart(QNAME, target)];
  },
  'an alias without target': (draft) => (draft.parts = [aliasPart(QNAME, `t${String(draft.index)}.${ZONE}`)]),
  'an alias to itself': (draft) => (draft.parts = [{ ...partOf('CNAME', 0), rdata: draft.asked }]),
  'two aliases': (draft) =>
    (draft.parts = [
      aliasPart(QNAME, `t1-${String(draft.index)}.${ZONE}`),
      aliasPart(QNAME, `t2-${String(draft.index)}.${ZONE}`),
    ]),
  'an alias beside data': (draft) => draft.parts.push(aliasPart(QNAME, `t${String(draft.index)}.${ZONE}`)),
  'a ring of aliases': (draft) => {
    const other = `x${String(draft.index)}.${ZONE}`;
    draft.parts = [
      aliasPart(QNAME, other),
      { ...partOf('CNAME', 0), owner: wireName(other), rdata: draft.asked },
    ];
  },
  'a long chain': (draft, random) => {
    const length = random.of([5, 9, 11, 12, 16, 30]);
    const name = (at: number): string => `t${String(at)}-${String(draft.index)}.${ZONE}`;
    draft.parts = Array.from({ length }, (_, at) =>
      aliasPart(at === 0 ? QNAME : wireName(name(at)), name(at + 1)),
    );
    draft.parts.push({ ...partOf('A', 0), owner: wireName(name(length)) });
  },
  'a DNAME': (draft) => {
    const part = {
      ...partOf('CNAME', 0),
      owner: wireName(ZONE),
      type: RRType.DNAME,
      rdata: wireName('other.example'),
    };
    draft.parts = [part, ...draft.parts];
  },
  NXDOMAIN: (draft) => {
    draft.flags |= NXDOMAIN;
    draft.parts = [soaPart()];
  },
  'NXDOMAIN without SOA': (draft) => {
    draft.flags |= NXDOMAIN;
    draft.parts = [];
  },
  'NXDOMAIN with data': (draft) => {
    draft.flags |= NXDOMAIN;
    draft.parts.push(soaPart());
  },
  'no data': (draft, random) => (draft.parts = random.once(2) ? [] : [soaPart()]),
  'a referral': (draft) => {
    draft.flags &= ~0x80;
    draft.parts = [{ ...soaPart(), type: RRType.NS, rdata: wireName(`ns.${ZONE}`) }];
  },
  'a broken SOA': (draft, random) => {
    draft.parts = [{ ...soaPart(), rdata: SOA.slice(0, random.below(SOA.length)) }];
    if (random.once(2)) draft.flags |= NXDOMAIN;
  },
  'a good OPT': (draft) => draft.parts.push(optPart()),
  'two OPT': (draft) => draft.parts.push(optPart(), optPart()),
  'OPT elsewhere': (draft, random) => {
    const part = optPart();
    part.section = random.below(2) as 0 | 1;
    if (random.once(3)) part.owner = QNAME;
    draft.parts.push(part);
  },
  'options of OPT': (draft, random) =>
    draft.parts.push(
      optPart(
        random.of([
          Uint8Array.of(0, 8),
          Uint8Array.of(0, 8, 0, 9, 1),
          Uint8Array.of(0, 15, 0, 1, 0),
          Uint8Array.of(0, 10, 0, 2, 1, 1),
        ]),
      ),
    ),
  'version or rcode of OPT': (draft, random) => {
    const part = optPart();
    part.ttl = random.of([0x00010000, 0x01000000, 0xff000000, 0x00ff0000]);
    draft.parts.push(part);
  },
  'a signature of the message': (draft, random) =>
    draft.parts.push({
      ...partOf('TXT', 0),
      section: random.below(3) as 0 | 1 | 2,
      owner: Uint8Array.of(0),
      type: 250,
      rrClass: 255,
      ttl: 0,
    }),
  'bytes after the end': (draft, random) =>
    (draft.tail = new Uint8Array(1 + random.below(40)).fill(random.below(256))),
  'an end too early': (draft, random) => (draft.cut = 1 + random.below(40)),
  'a few bytes': (draft, random) => (draft.flips = 1 + random.below(4)),
  'records twice': (draft) => draft.parts.push(...draft.parts.map((part) => ({ ...part }))),
  'many records': (draft, random) => {
    const count = random.of([20, 60]);
    for (let i = 0; i < count; i++) draft.parts.push(partOf('A', i));
  },
  'sections out of order': (draft) => draft.parts.reverse(),
};

function written(draft: Draft, random: Random): Uint8Array {
  const sections = [0, 1, 2].map((section) => draft.parts.filter((part) => part.section === section));
  const counts = [draft.questions.length, ...sections.map(({ length }) => length)];
  const whole = octets(
    u16((draft.id + draft.idError) & 0xffff),
    u16(draft.flags & 0xffff),
    counts.flatMap((count, i) => u16(Math.max(0, count + draft.countErrors[i]!) & 0xffff)),
    ...draft.questions,
    ...sections.flat().map(record),
    draft.tail,
  );
  const kept = whole.slice(0, Math.max(0, whole.length - draft.cut));
  // Changes bits after the header, whose fields are changed separately.
  for (let left = draft.flips; left > 0 && kept.length > 12; left--)
    kept[12 + random.below(kept.length - 12)]! ^= 1 << random.below(8);
  return kept;
}

function record({ owner, type, rrClass, ttl, rdata, lengthError }: Part): Uint8Array {
  const length = Math.max(0, rdata.length + lengthError) & 0xffff;
  return octets(owner, u16(type), u16(rrClass), u32(ttl), u16(length), rdata);
}
