import { describe, expect, test } from '@jest/globals';
import { ConfigBody, ConfigQuery } from './settings-api.ts';

describe('ConfigQuery, parameters of configuration changes,', () => {
  test.each([
    [{}, false],
    [{ force: 'false' }, false],
    [{ force: 'true' }, true],
  ])('reads %j as force: %j', (query, force) => {
    expect(ConfigQuery.parse(query)).toEqual({ force });
  });

  test.each(['', 'yes', 'TRUE', '1'])('rejects force=%s', (force) => {
    expect(ConfigQuery.safeParse({ force }).success).toBe(false);
  });
});

describe('ConfigBody', () => {
  test('accepts any keys of a known section, and rejects unknown sections', () => {
    expect(ConfigBody.parse({ dns: { any: 1 }, cache: null })).toEqual({ dns: { any: 1 }, cache: null });
    expect(ConfigBody.safeParse({ database: {}, unknown: {} }).success).toBe(false);
  });
});
