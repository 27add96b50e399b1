import { describe, expect, test } from '@jest/globals';
import { bodyOfRule, fieldsOfRule, fittingRules } from './rule-rows.ts';
import type { ManagedDomain } from './rule-rows.ts';

const rule = (id: number, changed: Partial<ManagedDomain>): ManagedDomain => ({
  id,
  domain: `n${id}.example`,
  name: 'x',
  action: 'deny',
  group_id: null,
  comment: '',
  enabled: true,
  created_at: '',
  updated_at: '',
  ...changed,
});

const ALL = { search: '', action: '', group: '' };

describe('fittingRules()', () => {
  const rules = [
    rule(1, {}),
    rule(2, { action: 'allow', group_id: 3, comment: 'For Ann' }),
    rule(3, { group_id: 3 }),
  ];
  const ids = (filter: Partial<typeof ALL>): number[] =>
    fittingRules(rules, { ...ALL, ...filter }).map(({ id }) => id);

  test('shows the newest first', () => {
    expect(ids({})).toEqual([3, 2, 1]);
  });

  test('filters by text, action and group; those of every group are a group of their own', () => {
    expect(ids({ search: ' ANN' })).toEqual([2]);
    expect(ids({ search: 'n3.' })).toEqual([3]);
    expect(ids({ action: 'allow' })).toEqual([2]);
    expect(ids({ group: 'all' })).toEqual([1]);
    expect(ids({ group: '3' })).toEqual([3, 2]);
  });
});

describe('fieldsOfRule()', () => {
  test('splits the domain of a rule into a name and a switch, which is on for a new one', () => {
    expect(fieldsOfRule(null)).toMatchObject({ text: '', subdomains: true });
    expect(fieldsOfRule(rule(1, { domain: '*.a.example' }))).toMatchObject({
      text: 'a.example',
      subdomains: true,
    });
    expect(fieldsOfRule(rule(1, { domain: 'a.example' }))).toMatchObject({
      text: 'a.example',
      subdomains: false,
    });
  });
});

describe('bodyOfRule()', () => {
  test('sends what the form of a rule says', () => {
    const fields = { ...fieldsOfRule(rule(1, { group_id: 2 })), comment: ' why ' };
    expect(bodyOfRule(fields)).toEqual({ action: 'deny', group_id: 2, comment: 'why', enabled: true });
  });
});
