import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import type { DecodedPacket } from '../../../shared/dns/codec.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { readU32 } from '../../../shared/dns/wire.ts';
import {
  a,
  cname,
  dname,
  ns,
  octets,
  opt,
  question,
  response,
  rrsig,
  soa,
  u16,
  wireName,
} from '../../../test/support/dns/built-messages.ts';
import type { TestRecord, TestResponse } from '../../../test/support/dns/built-messages.ts';
import type { Question } from './question.ts';
import type { CacheableAnswer, ResponseReading } from './response-reader.ts';
import { MAX_CHAIN_HOPS, readResponse } from './response-reader.ts';
import { MAX_RECORDS } from './record-table.ts';

const WWW = question('www.example.org', 'A');
const WWW_DO = question('www.example.org', 'A', { dnssecOk: true });

/** The whole message that a client would get. */
function assemble(asked: Question, answer: CacheableAnswer): Uint8Array {
  const flags = 0x8180 | (answer.rcode & 0xf);
  const counts = [1, answer.answerCount, answer.authorityCount, 0].flatMap(u16);
  return octets([0, 0], u16(flags), counts, asked.qname, u16(asked.qtype), u16(asked.qclass), answer.body);
}

function answerOf(reading: ResponseReading): CacheableAnswer {
  if (reading.kind !== 'answer') throw new Error(`read response: ${JSON.stringify(reading)}`);
  return reading.answer;
}

function read(asked: Question, parts: TestResponse): CacheableAnswer {
  return answerOf(readResponse(response(asked, parts), asked));
}

function decoded(asked: Question, answer: CacheableAnswer): DecodedPacket {
  const packet = decodeMessage(assemble(asked, answer));
  if (packet === null) throw new Error('decode: the normalised answer makes no message');
  return packet;
}

/** `owner type ttl` of each record that was kept, answers before authorities. */
function kept(asked: Question, answer: CacheableAnswer): string[] {
  const packet = decoded(asked, answer);
  return [...(packet.answers ?? []), ...(packet.authorities ?? [])].map(
    (record) => `${record.name} ${record.type} ${String('ttl' in record ? record.ttl : '')}`,
  );
}

function faultOf(asked: Question, parts: TestResponse): string {
  const reading = readResponse(response(asked, parts), asked);
  return reading.kind === 'fault' ? reading.fault : reading.kind;
}

describe('readResponse: what is kept', () => {
  test('readResponse() keeps the RRset asked for and nothing else of the message', () => {
    const answer = read(WWW, {
      answers: [a('www.example.org', '192.0.2.1'), a('evil.example.net', '192.0.2.66')],
      authorities: [ns('org', 'ns.evil.example')],
      additionals: [a('ns.evil.example', '192.0.2.67'), opt()],
    });
    expect(kept(WWW, answer)).toEqual(['www.example.org A 300']);
    expect(answer).toMatchObject({
      rcode: 0,
      answerCount: 1,
      authorityCount: 0,
      negative: false,
      minTtlSecs: 300,
    });
    expect(answer.answersLength).toBe(answer.body.length);
  });

  test('readResponse() puts the CNAME chain in order, whatever order it came in', () => {
    const answer = read(WWW, {
      answers: [
        a('c.example.net', '192.0.2.1', 60),
        cname('b.example.net', 'c.example.net', 20),
        cname('www.example.org', 'B.example.net', 50),
      ],
    });
    expect(kept(WWW, answer)).toEqual([
      'www.example.org CNAME 50',
      'b.example.net CNAME 20',
      'c.example.net A 60',
    ]);
    expect(answer.minTtlSecs).toBe(20);
  });

  test('readResponse() keeps signatures for a question with DO only', () => {
    const answers = [
      a('www.example.org', '192.0.2.1'),
      rrsig('www.example.org', 'A'),
      rrsig('www.example.org', 'TXT'),
    ];
    expect(kept(WWW, read(WWW, { answers }))).toEqual(['www.example.org A 300']);
    expect(kept(WWW_DO, read(WWW_DO, { answers }))).toEqual([
      'www.example.org A 300',
      'www.example.org RRSIG 300',
    ]);
  });

  test('readResponse() keeps the DNAME behind a synthesised CNAME and drops one unasked for (CVE-2025-11411)', () => {
    const answers = [
      dname('example.org', 'example.net'),
      dname('net', 'evil.example'),
      cname('www.example.org', 'www.example.net', 0),
      a('www.example.net', '192.0.2.1'),
    ];
    expect(kept(WWW, read(WWW, { answers }))).toEqual([
      'example.org DNAME 300',
      'www.example.org CNAME 0',
      'www.example.net A 300',
    ]);
  });

  test.each(['CNAME', 'ANY'] as const)(
    'readResponse() keeps the DNAME behind the CNAME that a question of type %s is for',
    (type) => {
      const asked = question('www.example.org', type, { dnssecOk: true });
      const answers = [
        dname('example.org', 'example.net'),
        rrsig('example.org', 'DNAME'),
        dname('org', 'evil.example'),
        cname('www.example.org', 'www.example.net', 0),
      ];
      expect(kept(asked, read(asked, { answers }))).toEqual([
        'example.org DNAME 300',
        'example.org RRSIG 300',
        'www.example.org CNAME 0',
      ]);
    },
  );

  test('readResponse() follows no CNAME for a question of type CNAME', () => {
    const asked = question('www.example.org', 'CNAME');
    const answer = read(asked, {
      answers: [cname('www.example.org', 'b.example.net'), cname('b.example.net', 'c.example.net')],
    });
    expect(kept(asked, answer)).toEqual(['www.example.org CNAME 300']);
  });

  test('readResponse() keeps every type at the name for ANY, but no pseudo-records', () => {
    const asked = question('www.example.org', 'ANY');
    const tsig: TestRecord = { owner: 'www.example.org', type: 250, ttl: 0, rdata: new Uint8Array(4) };
    const answer = read(asked, {
      answers: [a('www.example.org', '192.0.2.1', 9), tsig, cname('www.example.org', 'b.example.net', 5)],
    });
    expect(kept(asked, answer)).toEqual(['www.example.org A 5', 'www.example.org CNAME 5']);
  });

  test('readResponse() ignores records of another class', () => {
    const answer = read(WWW, { answers: [{ ...a('www.example.org', '192.0.2.1'), rrClass: 3 }] });
    expect(answer).toMatchObject({ answerCount: 0, negative: true });
  });

  test('readResponse() drops records that contradict an NXDOMAIN', () => {
    const answer = read(WWW, {
      flags: 0x8183,
      answers: [a('www.example.org', '192.0.2.1')],
      authorities: [soa('example.org', 60, 30)],
    });
    expect(answer).toMatchObject({
      rcode: Rcode.NXDOMAIN,
      answerCount: 0,
      authorityCount: 1,
      negative: true,
    });
  });

  test('readResponse() gives a failed answer its rcode and no records', () => {
    const answer = read(WWW, { flags: 0x8182, answers: [a('www.example.org', '192.0.2.1')] });
    expect(answer).toMatchObject({ rcode: Rcode.SERVFAIL, answerCount: 0, minTtlSecs: 0 });
    expect(answer.body).toHaveLength(0);
  });

  test('readResponse() adds the upper bits of the rcode from OPT', () => {
    expect(read(WWW, { flags: 0x8187, additionals: [opt(1)] }).rcode).toBe(Rcode.BADCOOKIE);
  });

  test('readResponse() says whether AD was set', () => {
    expect(read(WWW, { flags: 0x81a0 }).authenticated).toBe(true);
    expect(read(WWW, { flags: 0x8180 }).authenticated).toBe(false);
  });
});

describe('readResponse: negative answers', () => {
  test.each([
    ['the SOA TTL', 60, 3600, 60],
    ['the SOA MINIMUM', 3600, 60, 60],
  ])(
    'readResponse() takes the smaller one when it is %s (RFC 2308 section 5)',
    (_which, ttl, minimum, expected) => {
      const answer = read(WWW, { flags: 0x8183, authorities: [soa('example.org', ttl, minimum)] });
      expect(answer).toMatchObject({
        negative: true,
        minTtlSecs: expected,
        answerCount: 0,
        authorityCount: 1,
      });
      expect(kept(WWW, answer)).toEqual([`example.org SOA ${String(expected)}`]);
    },
  );

  test('readResponse() makes a negative answer without SOA uncacheable', () => {
    expect(read(WWW, { flags: 0x8183 })).toMatchObject({ negative: true, minTtlSecs: 0, authorityCount: 0 });
  });

  test('readResponse() drops the SOA of a zone that does not hold the name', () => {
    const answer = read(WWW, { flags: 0x8183, authorities: [soa('example.net', 60, 60)] });
    expect(answer).toMatchObject({ authorityCount: 0, minTtlSecs: 0 });
  });

  test('readResponse() looks for the SOA at the end of the chain', () => {
    const answer = read(WWW, {
      answers: [cname('www.example.org', 'b.example.net', 10)],
      authorities: [soa('example.net', 60, 60)],
    });
    expect(kept(WWW, answer)).toEqual(['www.example.org CNAME 10', 'example.net SOA 60']);
    expect(answer).toMatchObject({ negative: true, minTtlSecs: 10 });
    expect(answer.answersLength).toBeLessThan(answer.body.length);
  });

  test('readResponse() keeps denial proofs for DO, no longer than the SOA lets them (RFC 9077)', () => {
    const nsec: TestRecord = {
      owner: 'a.example.org',
      type: 'NSEC',
      ttl: 900,
      rdata: octets(wireName('z.example.org'), [0, 1, 0x40]),
    };
    const authorities = [
      soa('example.org', 600, 30),
      rrsig('example.org', 'SOA', 600),
      nsec,
      rrsig('a.example.org', 'NSEC', 900),
    ];
    expect(kept(WWW, read(WWW, { flags: 0x8183, authorities }))).toEqual(['example.org SOA 30']);
    expect(kept(WWW_DO, read(WWW_DO, { flags: 0x8183, authorities }))).toEqual([
      'example.org SOA 30',
      'example.org RRSIG 30',
      'a.example.org NSEC 30',
      'a.example.org RRSIG 30',
    ]);
  });

  test('readResponse() takes a delegation for no answer, but believes a recursive server', () => {
    const authorities = [ns('example.org', 'ns.example.org')];
    expect(faultOf(WWW, { flags: 0x8100, authorities })).toBe('referral');
    expect(read(WWW, { flags: 0x8180, authorities })).toMatchObject({
      negative: true,
      minTtlSecs: 0,
      authorityCount: 0,
    });
  });
});

describe('readResponse: TTLs', () => {
  test('readResponse() gives an RRset its smallest TTL (RFC 2181 section 5.2)', () => {
    const answers = [
      a('www.example.org', '192.0.2.1', 90),
      a('www.example.org', '192.0.2.2', 30),
      rrsig('www.example.org', 'A', 60),
    ];
    const answer = read(WWW_DO, { answers });
    expect([...answer.ttlOffsets].map((at) => readU32(answer.body, at))).toEqual([30, 30, 30]);
    expect(answer.minTtlSecs).toBe(30);
  });

  test('readResponse() reads a TTL with the top bit set as 0 (RFC 2181 section 8)', () => {
    expect(read(WWW, { answers: [a('www.example.org', '192.0.2.1', 0x80000000)] }).minTtlSecs).toBe(0);
    expect(read(WWW, { answers: [a('www.example.org', '192.0.2.1', 0x7fffffff)] }).minTtlSecs).toBe(
      0x7fffffff,
    );
  });
});

describe('readResponse: RDATA', () => {
  /** A name at octet 12 with a pointer to it: what upstreams send and what must not be copied blindly. */
  const POINTER = [0xc0, 12];
  const QNAME = wireName('www.example.org');

  test.each([
    ['NS', 'NS', POINTER, POINTER],
    ['MX', 'MX', [0, 10, ...POINTER], [0, 10, ...POINTER]],
    ['MINFO', 14, [...POINTER, ...POINTER], [...POINTER, ...POINTER]],
    ['RP', 'RP', [...POINTER, ...POINTER], [...QNAME, ...QNAME]],
    ['SRV', 'SRV', [0, 1, 0, 2, 0, 53, ...POINTER], [0, 1, 0, 2, 0, 53, ...QNAME]],
    ['DNAME', 'DNAME', POINTER, [...QNAME]],
    [
      'NAPTR',
      'NAPTR',
      [0, 1, 0, 2, 1, 0x55, 0, 2, 0x21, 0x21, ...POINTER],
      [0, 1, 0, 2, 1, 0x55, 0, 2, 0x21, 0x21, ...QNAME],
    ],
    ['TYPE65280', 65280, POINTER, POINTER],
    ['SVCB', 'SVCB', [0, 1, 0, 0, 3, 0, 2, 0x20, 0xfb], [0, 1, 0, 0, 3, 0, 2, 0x20, 0xfb]],
  ] as const)(
    'readResponse() rewrites names in %s as RFC 3597 section 4 has it',
    (_name, type, rdata, expected) => {
      const asked = question('www.example.org', type);
      const answer = read(asked, {
        answers: [{ owner: Uint8Array.from(POINTER), type, ttl: 1, rdata: Uint8Array.from(rdata) }],
      });
      expect([...answer.body.subarray(12)]).toEqual([...expected]);
    },
  );

  test.each([
    ['an A of 5 octets', 'A', new Uint8Array(5)],
    ['an AAAA of 4 octets', 'AAAA', new Uint8Array(4)],
    ['an MX without a name', 'MX', Uint8Array.of(0, 10)],
    ['an NS with octets behind its name', 'NS', octets(wireName('ns.example.org'), [0])],
    ['a SOA cut short', 'SOA', octets(wireName('a.test'), wireName('b.test'), new Uint8Array(19))],
    ['a name that leaves its RDATA', 'PTR', Uint8Array.of(3, 97, 98)],
    ['a NAPTR whose strings leave its RDATA', 'NAPTR', Uint8Array.of(0, 1, 0, 1, 200)],
  ] as const)('readResponse() refuses %s', (_what, type, rdata) => {
    const asked = question('www.example.org', type);
    expect(faultOf(asked, { answers: [{ owner: 'www.example.org', type, ttl: 1, rdata }] })).toBe(
      'malformed-data',
    );
  });

  test('readResponse() keeps octets in labels that text cannot hold', () => {
    const target = octets([3, 0, 0x2e, 0xff], wireName('example.net'));
    const asked = question('www.example.org', 'CNAME');
    const answer = read(asked, {
      answers: [{ owner: 'www.example.org', type: 'CNAME', ttl: 1, rdata: target }],
    });
    expect([...answer.body.subarray(12)]).toEqual([...target]);
  });
});

describe('readResponse: bounds', () => {
  test.each([
    ['with an owner name', [{ ...opt(), owner: 'a' }]],
    ['whose owner points to the root', [{ ...opt(), owner: Uint8Array.of(0xc0, 28) }]],
    ['beside another one', [opt(), opt()]],
    ['with an option past its end', [{ ...opt(), rdata: Uint8Array.of(0, 10, 0, 9, 1, 2) }]],
    ['with octets behind its last option', [{ ...opt(), rdata: Uint8Array.of(0, 10, 0, 1, 1, 7) }]],
    ['with 65 options', [{ ...opt(), rdata: new Uint8Array(65 * 4) }]],
  ])('readResponse() refuses an OPT record %s', (_how, additionals) => {
    const answers = [a('www.example.org', '192.0.2.1')];
    expect(faultOf(WWW, { answers, additionals })).toBe('malformed');
  });

  test.each([
    ['to itself', [0xc0, 33]],
    ['forwards', [0xc0, 60]],
    ['into the header', [0xc0, 2]],
    ['to a label that runs into it', [1, 0x61, 0xc0, 33]],
    ['of a reserved type', [0x80, 12]],
  ])('readResponse() refuses a pointer %s', (_where, owner) => {
    // The owner stands at octet 33, after header and question.
    expect(faultOf(WWW, { answers: [a(Uint8Array.from(owner), '192.0.2.1')] })).toBe('malformed');
  });

  test('readResponse() refuses a name of 256 octets', () => {
    const label = [63, ...new Uint8Array(63).fill(0x61)];
    const owner = octets(label, label, label, [62, ...new Uint8Array(62).fill(0x61)], [0]);
    expect(owner).toHaveLength(256);
    expect(faultOf(WWW, { answers: [a(owner, '192.0.2.1')] })).toBe('malformed');
  });

  test.each([
    [MAX_CHAIN_HOPS, 'answer'],
    [MAX_CHAIN_HOPS + 1, 'chain-too-long'],
  ])('readResponse() meets a chain of %d CNAMEs with: %s', (hops, expected) => {
    const name = (i: number): string => (i === 0 ? 'www.example.org' : `n${String(i)}.example.org`);
    const answers = Array.from({ length: hops }, (_, i) => cname(name(i), name(i + 1)));
    expect(faultOf(WWW, { answers: [...answers, a(name(hops), '192.0.2.1')] })).toBe(expected);
  });

  test('readResponse() ends at a CNAME loop', () => {
    const answers = [cname('www.example.org', 'b.example.org'), cname('b.example.org', 'www.example.org')];
    expect(faultOf(WWW, { answers })).toBe('chain-too-long');
  });

  test('readResponse() refuses more records than its bound and takes as many (CNAMECacheFlush)', () => {
    const owner = Uint8Array.of(0xc0, 12);
    const records = (count: number): TestRecord[] =>
      Array.from({ length: count }, (_, i) => a(owner, `10.0.${String(i >> 8)}.${String(i & 255)}`));
    expect(read(WWW, { answers: records(MAX_RECORDS) }).answerCount).toBe(MAX_RECORDS);
    expect(faultOf(WWW, { answers: records(MAX_RECORDS + 1) })).toBe('too-many-records');
  });

  test('readResponse() refuses an answer that outgrows a message when its names are written out', () => {
    const asked = question('a.'.repeat(120) + 'example.org', 'SRV');
    const record: TestRecord = {
      owner: Uint8Array.of(0xc0, 12),
      type: 'SRV',
      ttl: 1,
      rdata: Uint8Array.of(0, 0, 0, 0, 0, 1, 0xc0, 12),
    };
    expect(faultOf(asked, { answers: Array.from({ length: 400 }, () => record) })).toBe('too-long');
  });

  test('readResponse() takes an answer that fills a message but for its OPT record', () => {
    const asked = question('big.example.org', 'TXT');
    const owner = Uint8Array.of(0xc0, 12);
    const record = (size: number): TestRecord => ({
      owner,
      type: 'TXT',
      ttl: 1,
      rdata: new Uint8Array(size),
    });
    const room = 65_535 - 96 - 12 - asked.qname.length - 4;
    const whole = read(asked, { answers: [record(room - 12)] });
    expect(whole.body).toHaveLength(room);
    expect(faultOf(asked, { answers: [record(room - 11)] })).toBe('too-long');
  });

  test('readResponse() does not read on in a truncated message', () => {
    const message = response(WWW, { flags: 0x8380, answers: [a('www.example.org', '192.0.2.1')] });
    expect(readResponse(message.subarray(0, message.length - 3), WWW)).toEqual({ kind: 'truncated' });
  });

  test.each([
    ['another name', response(question('www.example.com', 'A'))],
    ['another type', response(question('www.example.org', 'AAAA'))],
    ['no QR', response(WWW, { flags: 0x0180 })],
    ['another opcode', response(WWW, { flags: 0xa180 })],
    ['nothing', new Uint8Array(0)],
  ])('readResponse() takes %s for no response to the question', (_what, message) => {
    expect(readResponse(message, WWW)).toEqual({ kind: 'fault', fault: 'not-a-response-to-this' });
  });

  test('readResponse() takes the question in any letter case', () => {
    const message = response(WWW, { answers: [a('www.example.org', '192.0.2.1')] });
    message[13] = 0x57;
    expect(answerOf(readResponse(message, WWW)).answerCount).toBe(1);
  });
});

/** Names that share suffixes, so that compression has something to do. */
const someName = fc
  .array(fc.constantFrom('www', 'a', 'b', 'cdn', 'example', 'mail'), { minLength: 1, maxLength: 4 })
  .chain((labels) => fc.constantFrom('org', 'net', 'test').map((tld) => [...labels, tld].join('.')));
const someTtl = fc.integer({ min: 0, max: 0x7fffffff });
const someRecord = (owner: fc.Arbitrary<string>): fc.Arbitrary<TestRecord> =>
  fc.oneof(
    fc.record({ owner, ttl: someTtl, ip: fc.ipV4() }).map((it) => a(it.owner, it.ip, it.ttl)),
    fc.record({ owner, ttl: someTtl, target: someName }).map((it) => ns(it.owner, it.target, it.ttl)),
    fc.record({ owner, ttl: someTtl, target: someName }).map((it): TestRecord => ({
      owner: it.owner,
      type: 'MX',
      ttl: it.ttl,
      rdata: octets([0, 5], wireName(it.target)),
    })),
    fc.record({ owner, ttl: someTtl, target: someName }).map((it): TestRecord => ({
      owner: it.owner,
      type: 'SRV',
      ttl: it.ttl,
      rdata: octets([0, 1, 0, 2, 0, 53], wireName(it.target)),
    })),
    fc.record({ owner, ttl: someTtl, zone: someName }).map((it) => soa(it.owner, it.ttl, 60)),
  );

describe('readResponse: any input', () => {
  test('readResponse() neither throws nor grows on any octets behind a good question', () => {
    const counts = fc.tuple(fc.nat(40), fc.nat(40), fc.nat(40));
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 1500 }),
        counts,
        fc.boolean(),
        (tail, [an, nscount, ar], dnssecOk) => {
          const asked = dnssecOk ? WWW_DO : WWW;
          const message = octets(response(asked), tail);
          message.set([...u16(an), ...u16(nscount), ...u16(ar)], 6);
          const reading = readResponse(message, asked);
          if (reading.kind === 'answer')
            expect(decodeMessage(assemble(asked, reading.answer))).not.toBeNull();
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('readResponse() neither throws nor grows on a good message with octets changed', () => {
    const good = response(WWW_DO, {
      answers: [
        cname('www.example.org', 'b.example.net'),
        a('b.example.net', '192.0.2.1'),
        rrsig('b.example.net', 'A'),
      ],
      authorities: [soa('example.net', 60, 60)],
      additionals: [opt()],
    });
    const changes = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(changes, (list) => {
        const message = good.slice();
        for (const [at, value] of list) message[at] = value;
        const reading = readResponse(message, WWW_DO);
        if (reading.kind !== 'answer') return;
        const { answer } = reading;
        const again = answerOf(readResponse(assemble(WWW_DO, answer), WWW_DO));
        expect(again.body).toEqual(answer.body);
      }),
      { numRuns: 3000 },
    );
  });

  test('readResponse() keeps exactly the records of the question that dns-packet reads, and is idempotent', () => {
    const types = ['A', 'NS', 'MX', 'SRV', 'SOA'] as const;
    const scenario = fc.record({
      qname: someName,
      qtype: fc.constantFrom(...types),
      own: fc.array(someRecord(fc.constant('')), { maxLength: 12 }),
      foreign: fc.array(someRecord(someName), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(scenario, ({ qname, qtype, own, foreign }) => {
        const asked = question(qname, qtype);
        const answers = [...own.map((record) => ({ ...record, owner: qname })), ...foreign];
        const message = response(asked, { flags: 0x8580, answers });
        const answer = answerOf(readResponse(message, asked));
        const expected = (decodeMessage(message)?.answers ?? []).filter(
          (it) => it.name === qname && it.type === qtype,
        );
        const actual = decoded(asked, answer).answers ?? [];
        expect(actual.map(dataOf)).toEqual(expected.map(dataOf));
        const least = Math.min(...expected.map((it) => ('ttl' in it ? (it.ttl ?? 0) : 0)));
        expect(answer.minTtlSecs).toBe(expected.length === 0 ? 0 : least);
        expect(answerOf(readResponse(assemble(asked, answer), asked))).toEqual(answer);
        expect(answer.body.length).toBeLessThanOrEqual(message.length);
      }),
      { numRuns: 500 },
    );
  });
});

function dataOf(record: object): unknown {
  return 'data' in record ? record.data : undefined;
}
