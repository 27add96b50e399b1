import { describe, expect, test } from '@jest/globals';
import { nameFromText, nameToText } from '../../shared/dns/name.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { ParseOutcome, parseQuery } from './parse-query.ts';
import { Query } from './query.ts';

const query = new Query();

/** Reads `message` from an odd offset, as slots do. */
function parse(message: ArrayLike<number>): number {
  const bytes = new Uint8Array(message.length + 32);
  bytes.set(message, 7);
  query.begin(bytes, 7, message.length, bytes.length - 7);
  return parseQuery(query, 1, 2);
}

function header(changes: { flags?: number[]; counts?: number[] } = {}): number[] {
  return [0xab, 0xcd, ...(changes.flags ?? [1, 0]), ...(changes.counts ?? [0, 1, 0, 0, 0, 0, 0, 0])];
}

function question(name: string, qtype = 1, qclass = 1): number[] {
  return [...nameFromText(name)!, qtype >> 8, qtype & 255, qclass >> 8, qclass & 255];
}

const ONE_ADDITIONAL = [0, 1, 0, 0, 0, 0, 0, 1];
/** OPT: size 4096, version, flags, options. */
function opt(version = 0, flags = 0x80, options: number[] = []): number[] {
  return [0, 0, 41, 0x10, 0, 0, version, flags, 0, options.length >> 8, options.length & 255, ...options];
}

function withOpt(record: number[]): number[] {
  return [...header({ counts: ONE_ADDITIONAL }), ...question('example.com'), ...record];
}

describe('parseQuery()', () => {
  test('reads the question and converts the name to lower case', () => {
    expect(parse([...header(), ...question('WWW.Example.COM', 28)])).toBe(ParseOutcome.OK);
    expect(nameToText(query.qname)).toBe('www.example.com');
    expect([query.qnameLength, query.labelCount, query.qtype, query.qclass]).toEqual([17, 3, 28, 1]);
    expect(query.hasEdns).toBe(false);
  });

  test('reads DO bit, UDP size and version of an OPT record', () => {
    expect(parse([...header({ counts: ONE_ADDITIONAL }), ...question('example.com'), ...opt(1)])).toBe(
      ParseOutcome.OK,
    );
    expect([query.hasEdns, query.dnssecOk, query.udpSize, query.ednsVersion]).toEqual([true, true, 4096, 1]);
  });

  test('accepts 64 EDNS options', () => {
    expect(parse(withOpt(opt(0, 0, Array<number>(64 * 4).fill(0))))).toBe(ParseOutcome.OK);
  });

  test('treats an EDNS size below 512 as 512 (RFC 6891 section 6.2.3)', () => {
    const small = opt();
    small[3] = 0;
    small[4] = 100;
    parse([...header({ counts: ONE_ADDITIONAL }), ...question('example.com'), ...small]);
    expect(query.udpSize).toBe(512);
  });

  test('reads a query for the root', () => {
    expect(parse([...header(), ...question('.', 2)])).toBe(ParseOutcome.OK);
    expect([query.qnameLength, query.labelCount]).toEqual([1, 0]);
  });

  test.each([
    ['a message shorter than a header', header().slice(0, 11), ParseOutcome.DROP],
    ['nothing', [], ParseOutcome.DROP],
    ['a response', [...header({ flags: [0x81, 0] }), ...question('example.com')], ParseOutcome.DROP],
    [
      'opcode STATUS',
      [...header({ flags: [0x11, 0] }), ...question('example.com')],
      ParseOutcome.NOT_IMPLEMENTED,
    ],
    ['opcode 15', [...header({ flags: [0x79, 0] })], ParseOutcome.NOT_IMPLEMENTED],
    ['no question', header({ counts: [0, 0, 0, 0, 0, 0, 0, 0] }), ParseOutcome.FORMAT_ERROR],
    [
      'two questions',
      [...header({ counts: [0, 2, 0, 0, 0, 0, 0, 0] }), ...question('a.test'), ...question('b.test')],
      ParseOutcome.FORMAT_ERROR,
    ],
    ['a name that is cut off', [...header(), 7, 0x65, 0x78], ParseOutcome.FORMAT_ERROR],
    ['a name without type', [...header(), ...nameFromText('example.com')!], ParseOutcome.FORMAT_ERROR],
    ['a compression pointer in the question', [...header(), 0xc0, 12, 0, 1, 0, 1], ParseOutcome.FORMAT_ERROR],
    [
      'a label of 64 bytes',
      [...header(), 64, ...Array<number>(64).fill(97), 0, 0, 1, 0, 1],
      ParseOutcome.FORMAT_ERROR,
    ],
    [
      'a name of 256 bytes',
      [...header(), ...Array.from({ length: 255 }, (_, i) => (i % 2 === 0 ? 1 : 97)), 0, 0, 1, 0, 1],
      ParseOutcome.FORMAT_ERROR,
    ],
    [
      'two OPT records',
      [...header({ counts: [0, 1, 0, 0, 0, 0, 0, 2] }), ...question('example.com'), ...opt(), ...opt()],
      ParseOutcome.FORMAT_ERROR,
    ],
    ['an OPT with an owner name', withOpt([1, 0x61, ...opt()]), ParseOutcome.FORMAT_ERROR],
    [
      'an OPT whose owner points to the root',
      withOpt([0xc0, 24, ...opt().slice(1)]),
      ParseOutcome.FORMAT_ERROR,
    ],
    ['an option past the end of its OPT', withOpt(opt(0, 0, [0, 10, 0, 9, 1, 2])), ParseOutcome.FORMAT_ERROR],
    ['bytes after the last option', withOpt(opt(0, 0, [0, 10, 0, 1, 1, 7])), ParseOutcome.FORMAT_ERROR],
    ['65 options', withOpt(opt(0, 0, Array<number>(65 * 4).fill(0))), ParseOutcome.FORMAT_ERROR],
    [
      'an OPT in another section',
      [...header({ counts: [0, 1, 0, 1, 0, 0, 0, 0] }), ...question('example.com'), ...opt()],
      ParseOutcome.FORMAT_ERROR,
    ],
    [
      'an additional record that is missing',
      [...header({ counts: ONE_ADDITIONAL }), ...question('example.com')],
      ParseOutcome.FORMAT_ERROR,
    ],
    [
      'an OPT whose options are cut off',
      [...header({ counts: ONE_ADDITIONAL }), ...question('example.com'), ...opt().slice(0, 9), 0, 9],
      ParseOutcome.FORMAT_ERROR,
    ],
  ])('rejects %s', (_what, message, outcome) => {
    expect(parse(message)).toBe(outcome);
  });

  test('accepts a name of 255 bytes', () => {
    const longest = [...Array.from({ length: 254 }, (_, i) => (i % 2 === 0 ? 1 : 97)), 0];
    expect(parse([...header(), ...longest, 0, 1, 0, 1])).toBe(ParseOutcome.OK);
    expect([query.qnameLength, query.labelCount]).toEqual([255, 127]);
  });

  test('never throws and never reads outside the message, for any bytes', () => {
    const hostile = fc.oneof(
      fc.uint8Array({ maxLength: 600 }),
      fc
        .tuple(fc.uint8Array({ minLength: 12, maxLength: 12 }), fc.uint8Array({ maxLength: 300 }))
        .map(([head, rest]) => {
          head[2] = head[2]! & 7;
          head.set([0, 1], 4);
          return Uint8Array.from([...head, ...rest]);
        }),
    );
    fc.assert(
      fc.property(hostile, (message) => {
        const outcome = parse(message);
        expect([0, 1, 2, 3]).toContain(outcome);
        expect(query.questionEnd).toBeLessThanOrEqual(message.length);
      }),
      { numRuns: 2000 },
    );
  });
});
