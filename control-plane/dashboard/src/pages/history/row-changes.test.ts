import { describe, expect, test } from '@jest/globals';
import {
  fieldsOf,
  formatChangedValue,
  formatMoment,
  isCustomRules,
  kindOf,
  nameOf,
  namesWith,
  rowsOf,
} from './row-changes.ts';
import type { Names } from './row-changes.ts';

const NAMES: Names = { groups: new Map([[2, 'Kids']]), lists: new Map([[5, 'Ads']]), schedules: new Map() };
const RULE = { id: 1, domain: 'ads.example', action: 'deny', group_id: null, comment: '' };

describe('kindOf() for a changed row', () => {
  test('distinguishes created, changed and deleted rows', () => {
    const change = { table: 'groups', key: '2' };
    expect(kindOf({ ...change, before: null, after: {} })).toBe('created');
    expect(kindOf({ ...change, before: {}, after: {} })).toBe('changed');
    expect(kindOf({ ...change, before: {}, after: null })).toBe('deleted');
  });
});

describe('fieldsOf() for a changed row', () => {
  test('shows changed fields, without internal fields', () => {
    const before = { ...RULE, updated_at: '1' };
    const after = { ...RULE, action: 'allow', updated_at: '2' };
    expect(fieldsOf({ table: 'managed_domains', key: '1', before, after })).toEqual([
      { field: 'action', before: 'deny', after: 'allow' },
    ]);
  });

  test('shows the fields of a new row except its name', () => {
    expect(fieldsOf({ table: 'managed_domains', key: '1', before: null, after: RULE })).toEqual([
      { field: 'action', before: null, after: 'deny' },
    ]);
  });

  test('shows no hash of the content of a new list', () => {
    const after = { name: 'Ads', kind: 'block', content_key: 'abc' };
    expect(
      fieldsOf({ table: 'list_sources', key: '5', before: null, after }).map(({ field }) => field),
    ).toEqual(['kind']);
  });

  test('shows the change of a name', () => {
    const change = { table: 'groups', key: '2', before: { name: 'Kid' }, after: { name: 'Kids' } };
    expect(fieldsOf(change)).toEqual([{ field: 'name', before: 'Kid', after: 'Kids' }]);
  });
});

describe('nameOf(), the name of a row in a change,', () => {
  test('is the name of the row to which the changed row refers', () => {
    const after = { source_id: 5, group_id: 2 };
    expect(nameOf({ table: 'list_source_groups', key: '5 2', before: null, after }, NAMES)).toBe(
      'Ads · Kids',
    );
  });

  test('is the first identifier of a client', () => {
    const after = { id: 4, name: null, mac_address: '02:00:5e:00:00:01', ip_address: null, group_id: 2 };
    const change = { table: 'clients', key: '4', before: null, after };
    expect(nameOf(change, NAMES)).toBe('02:00:5e:00:00:01');
    expect(nameOf({ ...change, after: { ...after, name: 'tv' } }, NAMES)).toBe('tv');
    expect(fieldsOf(change).map(({ field }) => field)).toEqual(['mac_address', 'group_id']);
  });

  test('is the key if there is no better name', () => {
    expect(nameOf({ table: 'new_table', key: '7', before: {}, after: {} }, NAMES)).toBe('7');
  });
});

describe('isCustomRules(), whether a value is the URL of custom rules,', () => {
  test.each([
    ['list_sources', 'url', 'text:b3c1', true],
    ['list_sources', 'url', 'https://lists.example/', false],
    ['list_sources', 'name', 'text:b3c1', false],
    ['managed_domains', 'url', 'text:b3c1', false],
    ['list_sources', 'url', null, false],
  ])('in %s, column %s, value %j: %j', (table, field, value, isCustom) => {
    expect(isCustomRules({ table, field, value })).toBe(isCustom);
  });
});

describe('namesWith(), the names of groups in a change,', () => {
  test('contain the name of a deleted group', () => {
    const gone = { table: 'groups', key: '3', before: { id: 3, name: 'Guests' }, after: null };
    expect(namesWith(NAMES, [gone]).groups).toEqual(
      new Map([
        [3, 'Guests'],
        [2, 'Kids'],
      ]),
    );
  });
});

describe('rowsOf() for a change', () => {
  test('returns policy rows by table and key', () => {
    expect(rowsOf({ 'groups 2': { id: 2 } }, null)).toEqual([
      { table: 'groups', key: '2', before: { id: 2 }, after: null },
    ]);
  });

  test('returns a value that is not a policy change as one row', () => {
    expect(rowsOf({ enabled: true }, { enabled: false })).toEqual([
      { table: '', key: '', before: { enabled: true }, after: { enabled: false } },
    ]);
    expect(rowsOf('old', 'new')).toEqual([
      { table: '', key: '', before: { value: 'old' }, after: { value: 'new' } },
    ]);
    expect(rowsOf(null, null)).toEqual([]);
  });
});

describe('formatChangedValue()', () => {
  test('writes lists with commas and texts unchanged', () => {
    expect(formatChangedValue(['a', 2, true])).toBe('a, 2, true');
    expect(formatChangedValue({ a: null })).toBe('{"a":null}');
  });
});

describe('formatMoment() for the end of a temporary rule', () => {
  test('is a date and a time in the language of the page', () => {
    const time = new Date(2026, 10, 30, 14, 21, 52).toISOString();
    expect([formatMoment(time, 'de'), formatMoment(time, 'en-GB')]).toEqual([
      '30.11.2026, 14:21:52',
      '30 Nov 2026, 14:21:52',
    ]);
  });
});
