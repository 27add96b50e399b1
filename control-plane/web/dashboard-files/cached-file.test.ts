import { describe, expect, test } from '@jest/globals';
import { acceptedForm } from './cached-file.ts';

const ALL = { identity: 1, br: 1, gzip: 1 };

describe('acceptedForm(), the encoding of a response,', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br;q=0.1, gzip;q=1', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br ; q=0.000 , gzip ; q=0', 'identity'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['identity', 'identity'],
    ['identity;q=0', 'identity'],
    ['zstd', 'identity'],
    ['brotli, gzippy', 'identity'],
    [';;;,,,=q', 'identity'],
    ['__proto__', 'identity'],
  ])('for %j is %s', (field, form) => {
    expect(acceptedForm(field, ALL)).toBe(form);
  });

  test('is the next best encoding if the file does not exist in the best encoding', () => {
    expect(acceptedForm('br, gzip', { identity: 1, gzip: 1 })).toBe('gzip');
    expect(acceptedForm('br, gzip', { identity: 1 })).toBe('identity');
  });

  test('only reads the first members of a long header field', () => {
    expect(acceptedForm(`${'a,'.repeat(5_000_000)}br`, ALL)).toBe('identity');
  });
});
