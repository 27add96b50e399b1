import { describe, expect, test } from '@jest/globals';
import { ImportQuery } from './imports-api.ts';

describe('ImportQuery', () => {
  test('sets the selection of a dry run, and answers no questions by default', () => {
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
  ])('reads the settings %j', (settings, keys) => {
    expect(ImportQuery.parse({ settings }).settings).toEqual(new Set(keys));
  });

  test.each(['settings', 'answers'])('accepts %s of 4000 characters, and no more', (field) => {
    const ofLength = (length: number): unknown => ({
      [field]: 'a:b,'.repeat(length / 4).padEnd(length, ','),
    });
    expect(ImportQuery.safeParse(ofLength(4000)).success).toBe(true);
    expect(ImportQuery.safeParse(ofLength(4001)).success).toBe(false);
  });

  test.each([{ format: 'bind' }, { dry_run: 'yes' }, { dry_run: '' }])('refuses %j', (query) => {
    expect(ImportQuery.safeParse(query).success).toBe(false);
  });

  test('reads dry_run', () => {
    expect(ImportQuery.parse({ dry_run: 'true' }).dry_run).toBe(true);
  });

  test('reads answers, and refuses anything that is not a question with a choice', () => {
    const { answers } = ImportQuery.parse({ answers: 'starting_list:keep,device.02005e100001:device' });
    expect([...answers]).toEqual([
      ['starting_list', 'keep'],
      ['device.02005e100001', 'device'],
    ]);
    for (const wrong of ['keep', 'a:b:c', 'a:b,c'])
      expect(ImportQuery.safeParse({ answers: wrong }).success).toBe(false);
  });
});
