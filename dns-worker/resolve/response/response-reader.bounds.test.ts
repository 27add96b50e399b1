/** Responses that are refused, and how names in RDATA are rewritten. */
import { describe, expect, test } from '@jest/globals';
import {
  a,
  cname,
  octets,
  opt,
  question,
  response,
  wireName,
} from '../../../test/support/dns/built-messages.ts';
import type { TestRecord } from '../../../test/support/dns/built-messages.ts';
import { MAX_CHAIN_HOPS, readResponse } from './response-reader.ts';
import { WWW, answerOf, read, faultOf } from '../../../test/support/dns/read-answer.ts';

describe('readResponse() for RDATA', () => {
  /** A name at offset 12 with a pointer to it: upstreams send such pointers, which must not be copied unchanged. */
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
  ] as const)('rewrites names in %s according to RFC 3597 section 4', (_name, type, rdata, expected) => {
    const asked = question('www.example.org', type);
    const answer = read(asked, {
      answers: [{ owner: Uint8Array.from(POINTER), type, ttl: 1, rdata: Uint8Array.from(rdata) }],
    });
    expect([...answer.body.subarray(12)]).toEqual([...expected]);
  });

  test.each([
    ['an A of 5 bytes', 'A', new Uint8Array(5)],
    ['an AAAA of 4 bytes', 'AAAA', new Uint8Array(4)],
    ['an MX without a name', 'MX', Uint8Array.of(0, 10)],
    ['an NS with bytes after its name', 'NS', octets(wireName('ns.example.org'), [0])],
    ['a SOA cut short', 'SOA', octets(wireName('a.test'), wireName('b.test'), new Uint8Array(19))],
    ['a name that leaves its RDATA', 'PTR', Uint8Array.of(3, 97, 98)],
    ['a NAPTR whose strings leave its RDATA', 'NAPTR', Uint8Array.of(0, 1, 0, 1, 200)],
  ] as const)('rejects %s', (_what, type, rdata) => {
    const asked = question('www.example.org', type);
    expect(faultOf(asked, { answers: [{ owner: 'www.example.org', type, ttl: 1, rdata }] })).toBe(
      'malformed-data',
    );
  });

  test('keeps label bytes that have no text form', () => {
    const target = octets([3, 0, 0x2e, 0xff], wireName('example.net'));
    const asked = question('www.example.org', 'CNAME');
    const answer = read(asked, {
      answers: [{ owner: 'www.example.org', type: 'CNAME', ttl: 1, rdata: target }],
    });
    expect([...answer.body.subarray(12)]).toEqual([...target]);
  });
});

describe('readResponse(), which limits names and records,', () => {
  test.each([
    ['with an owner name', [{ ...opt(), owner: 'a' }]],
    ['whose owner points to the root', [{ ...opt(), owner: Uint8Array.of(0xc0, 28) }]],
    ['with an option that extends past the record', [{ ...opt(), rdata: Uint8Array.of(0, 10, 0, 9, 1, 2) }]],
    ['with bytes after its last option', [{ ...opt(), rdata: Uint8Array.of(0, 10, 0, 1, 1, 7) }]],
    ['with 65 options', [{ ...opt(), rdata: new Uint8Array(65 * 4) }]],
  ])('rejects an OPT record %s', (_how, additionals) => {
    const answers = [a('www.example.org', '192.0.2.1')];
    expect(faultOf(WWW, { answers, additionals })).toBe('malformed');
  });

  test.each([
    ['to itself', [0xc0, 33]],
    ['forwards', [0xc0, 60]],
    ['into the header', [0xc0, 2]],
    ['to a label that runs into it', [1, 0x61, 0xc0, 33]],
    ['of a reserved type', [0x80, 12]],
  ])('rejects a compression pointer %s', (_where, owner) => {
    // The owner is at offset 33, after header and question.
    expect(faultOf(WWW, { answers: [a(Uint8Array.from(owner), '192.0.2.1')] })).toBe('malformed');
  });

  test('rejects a name of 256 bytes', () => {
    const label = [63, ...new Uint8Array(63).fill(0x61)];
    const owner = octets(label, label, label, [62, ...new Uint8Array(62).fill(0x61)], [0]);
    expect(owner).toHaveLength(256);
    expect(faultOf(WWW, { answers: [a(owner, '192.0.2.1')] })).toBe('malformed');
  });

  test.each([
    [MAX_CHAIN_HOPS, 'answer'],
    [MAX_CHAIN_HOPS + 1, 'chain-too-long'],
  ])('for a chain of %d CNAMEs returns %s', (hops, expected) => {
    const name = (i: number): string => (i === 0 ? 'www.example.org' : `n${String(i)}.example.org`);
    const answers = Array.from({ length: hops }, (_, i) => cname(name(i), name(i + 1)));
    expect(faultOf(WWW, { answers: [...answers, a(name(hops), '192.0.2.1')] })).toBe(expected);
  });

  test('stops at a CNAME loop', () => {
    const answers = [cname('www.example.org', 'b.example.org'), cname('b.example.org', 'www.example.org')];
    expect(faultOf(WWW, { answers })).toBe('chain-too-long');
  });

  test('accepts as many records as fit into a message', () => {
    const owner = Uint8Array.of(0xc0, 12);
    const answers = Array.from({ length: 4000 }, (_, i) =>
      a(owner, `10.0.${String(i >> 8)}.${String(i & 255)}`),
    );
    expect(read(WWW, { answers }).answerCount).toBe(4000);
  });

  test('ignores the second of two OPT records (RFC 6891 section 6.1.1)', () => {
    const answers = [a('www.example.org', '192.0.2.1')];
    const additionals = [opt(1), { ...opt(2), owner: 'a' }];
    expect(read(WWW, { answers, additionals }).rcode).toBe(16);
  });

  test('rejects an answer that exceeds the maximum size when its names are decompressed', () => {
    const asked = question('a.'.repeat(120) + 'example.org', 'SRV');
    const record: TestRecord = {
      owner: Uint8Array.of(0xc0, 12),
      type: 'SRV',
      ttl: 1,
      rdata: Uint8Array.of(0, 0, 0, 0, 0, 1, 0xc0, 12),
    };
    expect(faultOf(asked, { answers: Array.from({ length: 400 }, () => record) })).toBe('too-long');
  });

  test('accepts an answer of the maximum message size', () => {
    const asked = question('big.example.org', 'TXT');
    const owner = Uint8Array.of(0xc0, 12);
    const record = (size: number): TestRecord => ({
      owner,
      type: 'TXT',
      ttl: 1,
      rdata: new Uint8Array(size),
    });
    const capacity = 65_535 - 12 - asked.qname.length - 4;
    const whole = read(asked, { answers: [record(capacity - 12)] });
    expect(whole.body).toHaveLength(capacity);
    expect(faultOf(asked, { answers: [record(capacity - 11)] })).toBe('too-long');
  });

  test('stops reading a message that ends early', () => {
    const message = response(WWW, { flags: 0x8380, answers: [a('www.example.org', '192.0.2.1')] });
    expect(readResponse(message.subarray(0, message.length - 3), WWW)).toEqual({ kind: 'truncated' });
  });

  test.each([
    ['another name', response(question('www.example.com', 'A'))],
    ['another type', response(question('www.example.org', 'AAAA'))],
    ['no QR', response(WWW, { flags: 0x0180 })],
    ['another opcode', response(WWW, { flags: 0xa180 })],
    ['nothing', new Uint8Array(0)],
  ])('does not accept %s as a response to the query', (_what, message) => {
    expect(readResponse(message, WWW)).toEqual({ kind: 'fault', fault: 'not-a-response-to-this' });
  });

  test('accepts the query name in any letter case', () => {
    const message = response(WWW, { answers: [a('www.example.org', '192.0.2.1')] });
    message[13] = 0x57;
    expect(answerOf(readResponse(message, WWW)).answerCount).toBe(1);
  });
});
