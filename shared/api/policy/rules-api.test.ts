/** Patterns and domains of rules by users, as the API accepts them. */
import { describe, expect, test } from '@jest/globals';
import { Domain, Pattern, StoredPattern } from './rules-api.ts';

/** The reason of the first fault; null = accepted. */
function faultOf(schema: typeof Pattern | typeof Domain, value: string): string | null {
  const result = schema.safeParse(value);
  return result.success ? null : result.error.issues[0]!.message;
}

describe('Domain', () => {
  test.each([
    ['Ads.Example.', 'ads.example'],
    ['*.ads.example', '*.ads.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ])('stores %s as %s', (value, stored) => {
    expect(Domain.parse(value)).toBe(stored);
  });

  test.each(['', 'a b.example', '*', 'a..example'])('refuses "%s"', (value) => {
    expect(faultOf(Domain, value)).toMatch(/^expected a domain name/);
  });
});

describe('Pattern', () => {
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
  ])('refuses "%s" with a reason', (value) => {
    expect(faultOf(Pattern, value)).toEqual(expect.stringMatching(/./));
  });
});

describe('StoredPattern', () => {
  test('keeps values that an older version accepted, and refuses unreadable ones', () => {
    expect(faultOf(StoredPattern, '^')).toBeNull();
    expect(faultOf(StoredPattern, '(')).not.toBeNull();
  });
});
