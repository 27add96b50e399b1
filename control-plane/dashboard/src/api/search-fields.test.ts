import { describe, expect, test } from '@jest/globals';
import { fieldsOf, searchOf } from './search-fields.ts';

const DEFAULTS = { period: '24h', open: '' };

describe('fieldsOf(), which reads fields from a URL,', () => {
  test('uses defaults for missing fields', () => {
    expect(fieldsOf(new URLSearchParams('open=7&other=x'), DEFAULTS)).toEqual({ period: '24h', open: '7' });
  });
});

describe('searchOf(), which writes fields to a URL,', () => {
  test('omits default values and keeps other parameters', () => {
    const before = new URLSearchParams('open=7&other=x');
    expect(String(searchOf(before, { period: '7d', open: '' }, DEFAULTS))).toBe('other=x&period=7d');
  });

  test('writes a URL that fieldsOf() reads as the same fields, for any texts', () => {
    const fields = { period: 'a&b=c', open: '<"\u202e%00' };
    expect(fieldsOf(searchOf(new URLSearchParams(), fields, DEFAULTS), DEFAULTS)).toEqual(fields);
  });
});
