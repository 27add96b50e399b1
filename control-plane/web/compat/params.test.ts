import { describe, expect, test } from '@jest/globals';
import { Params } from './params.ts';

describe('Params, the query parameters of the compatibility API,', () => {
  test('uses the first of two parameters with the same name, and accepts names such as __proto__', () => {
    const params = new Params('/p?a=1&a=2&__proto__=3&constructor=4');
    expect([params.int('a'), params.int('__proto__'), params.int('constructor')]).toEqual([1, 3, 4]);
    expect([params.int('toString'), params.text('hasOwnProperty')]).toEqual([undefined, undefined]);
  });

  test.each([
    ['true', true],
    ['TRUE', true],
    ['False', false],
    ['1', true],
    ['0', true],
    ['', true],
  ])('bool() reads %j as %s if the default is true', (text, expected) => {
    expect(new Params(`/?b=${text}`).bool('b', true)).toBe(expected);
  });

  test.each(['', 'x', '1.5', '0x10', '1e3', '99999999999999999', '%31%00'])('int() ignores %j', (text) => {
    expect(new Params(`/?n=${text}`).int('n')).toBeUndefined();
  });

  test('count() limits a number to its bounds', () => {
    const counts = ['5', '0', '-1', '5000', 'x'].map((text) =>
      new Params(`/?n=${text}`).count('n', 10, 1000),
    );
    expect(counts).toEqual([5, 0, 10, 1000, 10]);
  });

  test('time() accepts whole and fractional seconds', () => {
    const times = ['1700000000', '1700000000.25', '-5', '1e9', 'NaN'].map((text) =>
      new Params(`/?t=${text}`).time('t'),
    );
    expect(times).toEqual([1_700_000_000, 1_700_000_000.25, undefined, undefined, undefined]);
  });

  test('text() accepts a URL without a query string, and bytes that are not UTF-8', () => {
    expect(new Params('/p').text('a')).toBeUndefined();
    expect(new Params('/p?a=%ff%zz').text('a')).toBe('\ufffd%zz');
  });
});
