/** Patterns and domains of rules by users, as the API accepts them. */
import { describe, expect, test } from '@jest/globals';
import { Domain, Pattern, StoredPattern } from './rules-api.ts';

/** The reason of the first fault; null = accepted. */
function faultOf(schema: typeof Pattern | typeof Domain, value: string): string | null {
  const result = schema.safeParse(value);
  return result.success ? null : result.error.issues[0]!.message;
}

describe('Domain, a domain name or *.name,', () => {
  test.each([
    ['Ads.Example.', 'ads.example'],
    ['*.ads.example', '*.ads.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ])('stores %s as %s', (value, stored) => {
    expect(Domain.parse(value)).toBe(stored);
  });

  test.each(['', 'a b.example', '*', 'a..example'])('rejects "%s"', (value) => {
    expect(faultOf(Domain, value)).toMatch(/^expected a domain name/);
  });
});

describe('Pattern, a regular expression with options,', () => {
  test.each([
    String.raw`^ads?\.`,
    '.*',
    '.*;querytype=HTTPS',
    String.raw`^ads\.;querytype=!A`,
    String.raw`^ads\.;reply=192.0.2.1`,
  ])('accepts %s', (value) => {
    expect(faultOf(Pattern, value)).toBeNull();
  });

  test.each([
    '',
    '(',
    '^',
    '(|)+',
    String.raw`(a)\1`,
    String.raw`^ads\.;reply=IP`,
    String.raw`^ads\.;invert`,
    'ä',
  ])('rejects "%s" with a reason', (value) => {
    expect(faultOf(Pattern, value)).toEqual(expect.stringMatching(/./));
  });
});

describe('StoredPattern, a pattern in a backup file,', () => {
  test('accepts patterns that an older version accepted, and rejects invalid patterns', () => {
    expect(faultOf(StoredPattern, '^')).toBeNull();
    expect(faultOf(StoredPattern, '(')).not.toBeNull();
  });
});
