import { describe, expect, test } from '@jest/globals';
import { fieldsOf, searchOf } from './search-fields.ts';

const DEFAULTS = { period: '24h', open: '' };

describe('fieldsOf()', () => {
  test('takes what the address says, and the default for the rest', () => {
    expect(fieldsOf(new URLSearchParams('open=7&other=x'), DEFAULTS)).toEqual({ period: '24h', open: '7' });
  });
});

describe('searchOf()', () => {
  test('leaves out what is at its default, and keeps what belongs to others', () => {
    const before = new URLSearchParams('open=7&other=x');
    expect(String(searchOf(before, { period: '7d', open: '' }, DEFAULTS))).toBe('other=x&period=7d');
  });

  test('turns back into the same fields, whatever the texts are', () => {
    const fields = { period: 'a&b=c', open: '<"\u202e%00' };
    expect(fieldsOf(searchOf(new URLSearchParams(), fields, DEFAULTS), DEFAULTS)).toEqual(fields);
  });
});
