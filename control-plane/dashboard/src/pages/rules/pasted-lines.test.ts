import { describe, expect, test } from '@jest/globals';
import { countsOf, pastedNames } from './pasted-lines.ts';
import type { ManagedDomain } from './rule-rows.ts';

const rule = (domain: string, action: 'allow' | 'deny', group: number | null): ManagedDomain => ({
  id: 1,
  domain,
  name: domain,
  action,
  group_id: group,
  comment: '',
  enabled: true,
  created_at: '',
  updated_at: '',
});

const TARGET = { action: 'deny' as const, subdomains: false, groupId: null, existing: [] as ManagedDomain[] };
const read = (text: string): string[] => pastedNames(text, TARGET).map(({ domain }) => domain);

describe('pastedNames(), which parses pasted text,', () => {
  test('reads names, wildcards, hosts lines, Adblock rules and URLs', () => {
    expect(read('Ads.Example.\n*.x.example\n0.0.0.0 a.example b.example # why\n||c.example^')).toEqual([
      'ads.example',
      '*.x.example',
      'a.example',
      'b.example',
      '*.c.example',
    ]);
    expect(read('https://page.example:8443/way?x=1, d.example;e.example')).toEqual([
      'page.example',
      'd.example',
      'e.example',
    ]);
  });

  test('adds subdomains to every name if the user has selected subdomains', () => {
    const existing = [rule('a.example', 'deny', null), rule('*.b.example', 'deny', null)];
    const names = pastedNames('a.example b.example ||b.example^\nhttps://c.example/x', {
      ...{ ...TARGET, existing },
      subdomains: true,
    });
    expect(names.map(({ domain, state }) => [domain, state])).toEqual([
      ['*.a.example', 'new'],
      ['*.b.example', 'there'],
      ['*.b.example', 'there'],
      ['*.c.example', 'new'],
    ]);
  });

  test('treats a sentence as one invalid line', () => {
    expect(pastedNames('no name here', TARGET)).toMatchObject([{ domain: 'no name here', state: 'bad' }]);
    expect(read('localhost')).toEqual(['localhost']);
  });

  test('skips comments and empty lines, but counts them', () => {
    const [only] = pastedNames('# head\r\n\r\n! note\r\nads.example', TARGET);
    expect(only).toMatchObject({ line: 4, domain: 'ads.example', state: 'new' });
  });

  test('marks duplicates, existing rules, and invalid names', () => {
    const existing = [rule('there.example', 'deny', null), rule('other.example', 'deny', 3)];
    const names = pastedNames('a.example\nA.example\nthere.example\nother.example\n192.0.2.1\nx_y..z', {
      ...TARGET,
      existing,
    });
    expect(names.map(({ state }) => state)).toEqual(['new', 'double', 'there', 'new', 'bad', 'bad']);
  });

  test('marks names for which the same group has an opposite rule', () => {
    const names = pastedNames('a.example\nb.example', {
      ...TARGET,
      existing: [rule('a.example', 'allow', null), rule('b.example', 'allow', 2)],
    });
    expect(names.map(({ isOpposed }) => isOpposed)).toEqual([true, false]);
    expect(countsOf(names)).toEqual({ new: 2, double: 0, there: 0, bad: 0, opposed: 1 });
  });
});
