import { describe, expect, test } from '@jest/globals';
import { faultOfTitle, writtenTests } from './written-titles.ts';

const TESTS = writtenTests(
  'made.test.ts',
  `describe('key (a)', () => {
    test('is set to 5%s', () => {});
    test.each(rows)('$key is %d %%', () => {});
    for (const name of names) test(\`holds for \${name}, once\`, () => {});
  });
  test('stands alone', () => {});`,
);
const TEMPLATE = 'the title of many cases: name the cases';

describe('faultOfTitle(), the check of a quoted title,', () => {
  test.each([
    ['is set to 5%s', null],
    ['key (a) is set to 5%s', null],
    ['key (a)', 'no such test'],
    ['stands alone', null],
    ['key (a) stands alone', 'no such test'],
    ['dns.pools is 7 %', null],
    ['key (a) dns.pools is 7 %', null],
    ['dns.pools is 7', 'no such test'],
    ['$key is %d %%', TEMPLATE],
    ['holds for me, once', null],
    ['holds for me, twice', 'no such test'],
  ])('returns the right result for "%s"', (title, fault) => {
    expect(faultOfTitle(TESTS, title)).toBe(fault);
  });
});
