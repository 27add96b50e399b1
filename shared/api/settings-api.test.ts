import { describe, expect, test } from '@jest/globals';
import { ConfigBody, ConfigQuery } from './settings-api.ts';

describe('ConfigQuery', () => {
  test.each([
    [{}, false],
    [{ force: 'false' }, false],
    [{ force: 'true' }, true],
  ])('reads %j as force: %j', (query, force) => {
    expect(ConfigQuery.parse(query)).toEqual({ force });
  });

  test.each(['', 'yes', 'TRUE', '1'])('refuses force=%s', (force) => {
    expect(ConfigQuery.safeParse({ force }).success).toBe(false);
  });
});

describe('ConfigBody', () => {
  test('leaves the keys of a section to the route, and refuses unknown sections', () => {
    expect(ConfigBody.parse({ dns: { any: 1 }, cache: null })).toEqual({ dns: { any: 1 }, cache: null });
    expect(ConfigBody.safeParse({ database: {}, unknown: {} }).success).toBe(false);
  });
});
