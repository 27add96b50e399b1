import { describe, expect, test } from '@jest/globals';
import { bodyOfRule, fieldsOfRule, fittingRules, groupsOfRow, replacement, rowsOf } from './rule-rows.ts';
import type { ManagedDomain, RegexFilter } from './rule-rows.ts';

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

const regexRule = (id: number, changed: Partial<RegexFilter>): RegexFilter => {
  const { domain: _domain, ...shared } = rule(id, {});
  return { ...shared, pattern: '^ads', name: '^ads', ...changed };
};

const ALL = { search: '', action: '', group: '' };

describe('fittingRules(), the rules that match the filters,', () => {
  const rules = [
    rule(1, {}),
    rule(2, { action: 'allow', group_id: 3, comment: 'For Ann' }),
    rule(3, { group_id: 3 }),
  ];
  const ids = (filter: Partial<typeof ALL>): number[] =>
    fittingRules(rules, { ...ALL, ...filter }).map(({ id }) => id);

  test('sorts the newest rules first', () => {
    expect(ids({})).toEqual([3, 2, 1]);
  });

  test('filters by text, action and group; rules for all groups are a separate choice', () => {
    expect(ids({ search: ' ANN' })).toEqual([2]);
    expect(ids({ search: 'n3.' })).toEqual([3]);
    expect(ids({ action: 'allow' })).toEqual([2]);
    expect(ids({ group: 'all' })).toEqual([1]);
    expect(ids({ group: '3' })).toEqual([3, 2]);
  });
});

describe('fieldsOfRule(), the form of a rule,', () => {
  test('splits a domain rule into name and subdomain switch; the switch is on for a new rule', () => {
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

describe('bodyOfRule(), the request of the form,', () => {
  test('contains the values of the form', () => {
    const fields = { ...fieldsOfRule(rule(1, { group_id: 2 })), comment: ' why ' };
    expect(bodyOfRule(fields)).toEqual({ action: 'deny', group_id: 2, comment: 'why', enabled: true });
  });
});

describe('rowsOf(), the rows of the list of rules,', () => {
  test('contain one row for rules that differ only in their group', () => {
    const same = { domain: 'a.example' };
    const rules = [
      rule(1, { ...same, group_id: 3 }),
      rule(2, { ...same, group_id: 2 }),
      rule(3, { ...same, group_id: 4, action: 'allow' }),
      rule(4, { ...same, group_id: 5, enabled: false }),
      rule(5, same),
    ];
    const rows = rowsOf(rules);
    expect(rows.map(({ all }) => all.map(({ id }) => id))).toEqual([[1, 2], [3], [4], [5]]);
    expect(rows.map(({ all }) => groupsOfRow(all))).toEqual([[2, 3], [4], [5], null]);
  });

  test('contain one row for regex rules that differ only in their group, unless their names differ', () => {
    const rules = [
      regexRule(1, { group_id: 3 }),
      regexRule(2, { group_id: 2 }),
      regexRule(3, { group_id: 4, name: 'Ads' }),
      regexRule(4, { group_id: 5, pattern: '^banner' }),
      regexRule(5, {}),
    ];
    expect(rowsOf(rules).map(({ all }) => all.map(({ id }) => id))).toEqual([[1, 2], [3], [4], [5]]);
  });
});

describe('replacement(), the rules that replace an edited row,', () => {
  test('contains a rule for each group, with the changed values', () => {
    const all = [
      rule(1, { domain: 'a.example', group_id: 3 }),
      rule(2, { domain: 'a.example', group_id: 2 }),
    ];
    const kept = { domain: 'a.example', name: 'x', action: 'deny', comment: '', enabled: false };
    expect(replacement(all, [2, 4], { enabled: false })).toEqual({
      delete: [1, 2],
      create: [
        { ...kept, group_id: 2 },
        { ...kept, group_id: 4 },
      ],
    });
    expect(replacement(all, null, { enabled: false }).create).toEqual([{ ...kept, group_id: null }]);
  });

  test('contains a regex rule for each group, with the pattern as its name', () => {
    const all = [regexRule(1, { group_id: 3 }), regexRule(2, { group_id: 2 })];
    expect(replacement(all, [4], { text: '^banner', comment: 'why' })).toEqual({
      delete: [1, 2],
      create: [{ pattern: '^banner', action: 'deny', comment: 'why', enabled: true, group_id: 4 }],
    });
  });
});
