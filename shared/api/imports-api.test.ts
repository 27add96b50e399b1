import { describe, expect, test } from '@jest/globals';
import { ImportQuery } from './imports-api.ts';

describe('ImportQuery', () => {
  test('selects the default settings without a dry run, and makes no choices by default', () => {
    expect(ImportQuery.parse({})).toEqual({
      format: 'auto',
      dry_run: false,
      settings: 'default',
      answers: new Map(),
    });
  });

  test.each([
    ['none', []],
    ['', []],
    ['dns.ecs,dns.pools.0', ['dns.ecs', 'dns.pools.0']],
    ['dns.ecs,', ['dns.ecs']],
  ])('reads the list of settings %j', (settings, keys) => {
    expect(ImportQuery.parse({ settings }).settings).toEqual(new Set(keys));
  });

  test.each(['settings', 'answers'])('accepts up to 4000 characters for %s', (field) => {
    const ofLength = (length: number): unknown => ({
      [field]: 'a:b,'.repeat(length / 4).padEnd(length, ','),
    });
    expect(ImportQuery.safeParse(ofLength(4000)).success).toBe(true);
    expect(ImportQuery.safeParse(ofLength(4001)).success).toBe(false);
  });

  test.each([{ format: 'bind' }, { dry_run: 'yes' }, { dry_run: '' }])('rejects %j', (query) => {
    expect(ImportQuery.safeParse(query).success).toBe(false);
  });

  test('reads dry_run as a boolean', () => {
    expect(ImportQuery.parse({ dry_run: 'true' }).dry_run).toBe(true);
  });

  test('reads answers as choices by question, and rejects other texts', () => {
    const { answers } = ImportQuery.parse({ answers: 'starting_list:keep,device.02005e100001:device' });
    expect([...answers]).toEqual([
      ['starting_list', 'keep'],
      ['device.02005e100001', 'device'],
    ]);
    for (const wrong of ['keep', 'a:b:c', 'a:b,c'])
      expect(ImportQuery.safeParse({ answers: wrong }).success).toBe(false);
  });
});
