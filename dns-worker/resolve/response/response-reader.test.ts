import { describe, expect, test } from '@jest/globals';
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
  rrsig,
  soa,
  wireName,
} from '../../../test/support/dns/built-messages.ts';
import type { TestRecord } from '../../../test/support/dns/built-messages.ts';
import { WWW, WWW_DO, read, kept, faultOf } from '../../../test/support/dns/read-answer.ts';

describe('readResponse(), which keeps only relevant records,', () => {
  test('keeps only the queried RRset of the message', () => {
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

  test('returns the CNAME chain in order, for any order in the message', () => {
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

  test('keeps RRSIG records only for a query with DO', () => {
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

  test('keeps the DNAME of a synthesized CNAME and removes an unrelated DNAME (CVE-2025-11411)', () => {
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

  test.each([
    ['A', ['www.example.net A 60']],
    ['CNAME', []],
  ] as const)(
    'adds the CNAME that a DNAME synthesizes to the answer of a query for type %s',
    (type, rest) => {
      const asked = question('www.example.org', type);
      const answers = [dname('example.org', 'example.net', 90), a('www.example.net', '192.0.2.1', 60)];
      expect(kept(asked, read(asked, { answers }))).toEqual([
        'example.org DNAME 90',
        'www.example.org CNAME 90',
        ...rest,
      ]);
    },
  );

  test('adds no CNAME whose target name would be too long', () => {
    const long = `${'a'.repeat(60)}.`.repeat(3);
    const asked = question(`${'b'.repeat(60)}.${'c'.repeat(60)}.example.org`, 'A');
    const answer = read(asked, { flags: 0x8186, answers: [dname('example.org', `${long}net`)] });
    expect([answer.rcode, answer.answerCount]).toEqual([6, 0]);
  });

  test('keeps the DNAME next to a CNAME that was queried', () => {
    const asked = question('www.example.org', 'CNAME', { dnssecOk: true });
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
  });

  test('does not follow a CNAME in the answer to a CNAME query', () => {
    const asked = question('www.example.org', 'CNAME');
    const answer = read(asked, {
      answers: [cname('www.example.org', 'b.example.net'), cname('b.example.net', 'c.example.net')],
    });
    expect(kept(asked, answer)).toEqual(['www.example.org CNAME 300']);
  });

  test('ignores records of a different class', () => {
    const answer = read(WWW, { answers: [{ ...a('www.example.org', '192.0.2.1'), rrClass: 3 }] });
    expect(answer).toMatchObject({ answerCount: 0, negative: true });
  });

  test('removes answer records for the name from an NXDOMAIN response', () => {
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

  test('returns the RCODE and no records for a failed response', () => {
    const answer = read(WWW, { flags: 0x8182, answers: [a('www.example.org', '192.0.2.1')] });
    expect(answer).toMatchObject({ rcode: Rcode.SERVFAIL, answerCount: 0, minTtlSecs: 0 });
    expect(answer.body).toHaveLength(0);
  });

  test('adds the upper bits of the RCODE from OPT', () => {
    expect(read(WWW, { flags: 0x8187, additionals: [opt(1)] }).rcode).toBe(Rcode.BADCOOKIE);
  });

  test('reports whether the AD bit was set', () => {
    expect(read(WWW, { flags: 0x81a0 }).authenticated).toBe(true);
    expect(read(WWW, { flags: 0x8180 }).authenticated).toBe(false);
  });
});

describe('readResponse() for negative answers', () => {
  test.each([
    ['the SOA TTL', 60, 3600, 60],
    ['the SOA MINIMUM', 3600, 60, 60],
  ])('uses the smaller TTL if it is %s (RFC 2308 section 5)', (_which, ttl, minimum, expected) => {
    const answer = read(WWW, { flags: 0x8183, authorities: [soa('example.org', ttl, minimum)] });
    expect(answer).toMatchObject({
      negative: true,
      minTtlSecs: expected,
      answerCount: 0,
      authorityCount: 1,
    });
    expect(kept(WWW, answer)).toEqual([`example.org SOA ${String(expected)}`]);
  });

  test('makes a negative answer without a SOA uncacheable', () => {
    expect(read(WWW, { flags: 0x8183 })).toMatchObject({ negative: true, minTtlSecs: 0, authorityCount: 0 });
  });

  test('removes a SOA whose zone does not contain the query name', () => {
    const answer = read(WWW, { flags: 0x8183, authorities: [soa('example.net', 60, 60)] });
    expect(answer).toMatchObject({ authorityCount: 0, minTtlSecs: 0 });
  });

  test('expects the SOA to match the end of the CNAME chain', () => {
    const answer = read(WWW, {
      answers: [cname('www.example.org', 'b.example.net', 10)],
      authorities: [soa('example.net', 60, 60)],
    });
    expect(kept(WWW, answer)).toEqual(['www.example.org CNAME 10', 'example.net SOA 60']);
    expect(answer).toMatchObject({ negative: true, minTtlSecs: 10 });
    expect(answer.answersLength).toBeLessThan(answer.body.length);
  });

  test('keeps NSEC records for a query with DO, with at most the negative TTL (RFC 9077)', () => {
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

  test('does not accept a referral as an answer, except from a recursive server', () => {
    const authorities = [ns('example.org', 'ns.example.org')];
    expect(faultOf(WWW, { flags: 0x8100, authorities })).toBe('referral');
    expect(read(WWW, { flags: 0x8180, authorities })).toMatchObject({
      negative: true,
      minTtlSecs: 0,
      authorityCount: 0,
    });
  });
});

describe('readResponse(), which adjusts TTLs,', () => {
  test('gives all records of an RRset the smallest TTL (RFC 2181 section 5.2)', () => {
    const answers = [
      a('www.example.org', '192.0.2.1', 90),
      a('www.example.org', '192.0.2.2', 30),
      rrsig('www.example.org', 'A', 60),
    ];
    const answer = read(WWW_DO, { answers });
    expect([...answer.ttlOffsets].map((at) => readU32(answer.body, at))).toEqual([30, 30, 30]);
    expect(answer.minTtlSecs).toBe(30);
  });

  test('reads a TTL with the top bit set as 0 (RFC 2181 section 8)', () => {
    expect(read(WWW, { answers: [a('www.example.org', '192.0.2.1', 0x80000000)] }).minTtlSecs).toBe(0);
    expect(read(WWW, { answers: [a('www.example.org', '192.0.2.1', 0x7fffffff)] }).minTtlSecs).toBe(
      0x7fffffff,
    );
  });
});
