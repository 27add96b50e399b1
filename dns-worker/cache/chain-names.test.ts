import { describe, expect, test } from '@jest/globals';
import { RRType } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { octets, u16, wireName } from '../../test/support/dns/built-messages.ts';
import { textAnswer } from '../../test/support/dns/record-text.ts';
import { Query } from '../query/query.ts';
import { leadsToNames, nextAddressHint, readTarget, targetOffset } from './chain-names.ts';

describe('leadsToNames(), which detects records that refer to other names,', () => {
  test.each([
    ['a CNAME behind another record', 'a.test 60 A 192.0.2.1\nb.test 60 CNAME c.test', true],
    ['a DNAME', 'a.test 60 DNAME b.test', true],
    ['addresses', 'a.test 60 A 192.0.2.1\na.test 60 A 192.0.2.2', false],
    ['nothing', '', false],
  ])('detects whether %s refers to another name', (_, records, expected) => {
    expect(leadsToNames(textAnswer(records))).toBe(expected);
  });

  test('only reads the answer section', () => {
    expect(leadsToNames(textAnswer('a.test 60 A 192.0.2.1', 'b.test 60 CNAME c.test'))).toBe(false);
  });

  test('ignores a body that ends in the middle of a record', () => {
    const answer = textAnswer('b.test 60 CNAME c.test');
    expect(leadsToNames({ ...answer, body: answer.body.subarray(0, 8) })).toBe(false);
    expect(leadsToNames({ ...answer, body: answer.body.subarray(0, 3) })).toBe(false);
  });
});

describe('targetOffset(), the position of a target name in RDATA,', () => {
  test('returns the offset after the priority in SVCB and HTTPS, and -1 for types without a target name', () => {
    const { CNAME, DNAME, HTTPS, SVCB, A, NS } = RRType;
    expect([CNAME, DNAME, HTTPS, SVCB, A, NS].map(targetOffset)).toEqual([0, 0, 2, 2, -1, -1]);
  });
});

describe('readTarget(), which reads a target name,', () => {
  /** Reads the name at `at` of a message that starts at byte 5 of the buffer. */
  function read(message: Uint8Array | readonly number[], at: number): string | null {
    const bytes = octets([9, 9, 9, 9, 9], message);
    const query = new Query();
    query.isAddress = true;
    if (!readTarget(bytes, 5, at + 5, bytes.length, query)) return null;
    expect(query.isAddress).toBe(false);
    const labels = [...query.labelAt.subarray(0, query.labelCount)].map((label) => query.qname[label]!);
    const text = nameToText(query.qname.slice(0, query.qnameLength));
    expect(labels).toEqual(text === '.' ? [] : text.split('.').map((label) => label.length));
    return text;
  }

  test('reads a name in lower case, following compression pointers from the start of the message', () => {
    expect(read(octets([1, 0x41], [4], Buffer.from('TEST'), [0]), 0)).toBe('a.test');
    expect(read(octets(wireName('test'), [1, 0x42, 0xc0, 0]), 6)).toBe('b.test');
    expect(read([0], 0)).toBe('.');
  });

  test('accepts a name of 255 bytes, but not one of 256', () => {
    const label = octets([49], Buffer.alloc(49, 'a'));
    const long = (last: number): Uint8Array =>
      octets(label, label, label, label, label, [last], Buffer.alloc(last, 'b'), [0]);
    expect(long(3)).toHaveLength(255);
    expect(read(long(3), 0)).not.toBeNull();
    expect(read(long(4), 0)).toBeNull();
  });

  test('rejects a name that is truncated, has a pointer loop or a long label', () => {
    expect(read([1, 97], 0)).toBeNull();
    expect(read([0xc0, 0], 0)).toBeNull();
    expect(read([64, ...Array<number>(64).fill(97), 0], 0)).toBeNull();
  });
});

describe('nextAddressHint() in an HTTPS record', () => {
  const param = (key: number, value: number[]): number[] => [...u16(key), ...u16(value.length), ...value];
  const rdata = (...params: number[][]): Uint8Array =>
    octets([9, 9], [0, 1], wireName('svc.test'), ...params);
  const START = 2;

  /** Keys of all hints, in order. */
  function keysIn(bytes: Uint8Array): number[] {
    const keys: number[] = [];
    for (let at = 0; (at = nextAddressHint(bytes, START, bytes.length, at)) !== 0;) keys.push(bytes[at + 1]!);
    return keys;
  }

  test('finds the IPv4 and IPv6 hints among other parameters of an HTTPS record', () => {
    const bytes = rdata(
      param(1, [2, 104, 50]),
      param(4, [192, 0, 2, 1]),
      param(5, []),
      param(6, Array<number>(16).fill(1)),
    );
    expect(keysIn(bytes)).toEqual([4, 6]);
  });

  test('returns nothing for a record without address hints or with a truncated parameter', () => {
    expect(keysIn(rdata())).toEqual([]);
    expect(keysIn(rdata(param(1, [2, 104, 50])))).toEqual([]);
    const whole = rdata(param(4, [192, 0, 2, 1]));
    expect(keysIn(whole)).toEqual([4]);
    expect(keysIn(rdata(param(1, [2, 104, 50]), param(6, [])))).toEqual([6]);
    expect(keysIn(whole.subarray(0, whole.length - 1))).toEqual([]);
  });
});
