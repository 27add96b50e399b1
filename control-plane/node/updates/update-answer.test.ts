import { describe, expect, test } from '@jest/globals';
import { isNewer, readAnswer } from './update-answer.ts';

const PAGE = 'https://weir.example.org/releases/0.2.0';

describe('readAnswer()', () => {
  test('reads version and page, and ignores other fields', () => {
    const text = JSON.stringify({ version: '0.2.0', url: PAGE, date: '2026-01-15' });
    expect(readAnswer(text)).toEqual({ version: '0.2.0', url: PAGE });
  });

  test.each([
    ['not JSON', '<html>'],
    ['nothing', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['no url', JSON.stringify({ version: '0.2.0' })],
    ['an invalid version', JSON.stringify({ version: '<b>2</b>', url: PAGE })],
    ['a version as a number', JSON.stringify({ version: 2, url: PAGE })],
    ['a version that is too long', JSON.stringify({ version: `1.0.0-${'a'.repeat(65)}`, url: PAGE })],
    ['a javascript: URL', JSON.stringify({ version: '0.2.0', url: 'javascript:alert(1)' })],
    ['a data: URL', JSON.stringify({ version: '0.2.0', url: 'data:text/html,x' })],
    ['a URL of plain HTTP', JSON.stringify({ version: '0.2.0', url: 'http://weir.example.org/' })],
    [
      'a URL with credentials',
      JSON.stringify({ version: '0.2.0', url: 'https://weir.example.org@evil.example/' }),
    ],
    ['a relative url', JSON.stringify({ version: '0.2.0', url: '/releases' })],
    ['a url that is too long', JSON.stringify({ version: '0.2.0', url: `${PAGE}/${'a'.repeat(1000)}` })],
  ])('refuses %s', (_what, text) => {
    expect(() => readAnswer(text)).toThrow(/^the response is not/);
  });
});

describe('isNewer()', () => {
  /** Versions in ascending order. */
  const VERSIONS = [
    ...['0.1.0-alpha', '0.1.0-alpha.1', '0.1.0-alpha.beta', '0.1.0-beta.2', '0.1.0-beta.11', '0.1.0'],
    ...['0.1.1', '0.2.0', '0.10.0', '1.0.0'],
  ];

  test('orders versions as semantic versioning does', () => {
    for (const [i, a] of VERSIONS.entries())
      for (const [j, b] of VERSIONS.entries()) expect([a, b, isNewer(a, b)]).toEqual([a, b, i > j]);
  });

  test('is false for a text that is not a version', () => {
    expect(isNewer('latest', '0.1.0')).toBe(false);
    expect(isNewer('0.2.0', 'unknown')).toBe(false);
  });
});
