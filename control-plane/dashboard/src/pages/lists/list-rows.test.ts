import { describe, expect, test } from '@jest/globals';
import { operationsOf } from '../../ui/policy/list-operations.ts';
import { isBusy, listRows, listStateOf } from './list-rows.ts';
import type { Source } from './list-rows.ts';

function source(changed: Partial<Source>): Source {
  return {
    id: 1,
    name: 'ads',
    url: 'https://lists.example/ads',
    has_text: false,
    enabled: true,
    comment: '',
    group_ids: [],
    subdomains: false,
    format: 'hosts',
    status: 'ok',
    rules: 5,
    invalid_lines: 0,
    bytes: 100,
    etag: null,
    last_checked_at: null,
    last_changed_at: null,
    last_error: null,
    file_node: null,
    held: null,
    ...changed,
  };
}

const ALL = { search: '', state: '', sort: 'name' };
const names = (rows: readonly Source[]): string[] => rows.map(({ name }) => name);

describe('listRows(), the rows of the page of lists,', () => {
  const sources = [
    source({ id: 1, name: 'b', rules: 9, last_changed_at: '2026-01-02T00:00:00Z' }),
    source({ id: 2, name: 'a', rules: 1, comment: 'Phishing', last_changed_at: '2026-01-03T00:00:00Z' }),
    source({ id: 3, name: 'c', rules: 4, enabled: false }),
  ];
  const stats = [
    { id: 3, hits: 7, sole_hits: 1, rules: 4, unique_rules: 0, safe_search_exceptions: [] },
    { id: 2, hits: null, sole_hits: null, rules: 1, unique_rules: 1, safe_search_exceptions: [] },
  ];

  test('joins lists with their statistics if the statistics are known', () => {
    expect(listRows(sources, stats, ALL).map(({ worth }) => worth?.hits)).toEqual([null, undefined, 7]);
    expect(listRows(sources, undefined, ALL)[0]?.worth).toBeNull();
  });

  test.each([
    ['name', ['a', 'b', 'c']],
    ['hits', ['c', 'a', 'b']],
    ['unique', ['a', 'b', 'c']],
    ['rules', ['b', 'c', 'a']],
    ['changed', ['a', 'b', 'c']],
  ])('sorts by %s', (sort, order) => {
    expect(names(listRows(sources, stats, { ...ALL, sort }))).toEqual(order);
  });

  test('searches name, address and comment in any letter case, and filters by state', () => {
    expect(names(listRows(sources, stats, { ...ALL, search: ' phish ' }))).toEqual(['a']);
    expect(names(listRows(sources, stats, { ...ALL, state: 'off' }))).toEqual(['c']);
  });
});

describe('listStateOf(), the state shown for a list,', () => {
  test('is off for a disabled list, unless the list is updating', () => {
    expect(listStateOf(source({ enabled: false, status: 'error' }))).toBe('off');
    expect(listStateOf(source({ enabled: false, status: 'updating' }))).toBe('updating');
    expect(listStateOf(source({ status: 'held' }))).toBe('held');
  });
});

describe('isBusy()', () => {
  test('is true while a list is updating or waiting for an update', () => {
    expect(isBusy([source({}), source({ status: 'updating' })])).toBe(true);
    expect(isBusy([source({ status: 'pending' })])).toBe(true);
    expect(isBusy([source({ status: 'pending', enabled: false }), source({ status: 'error' })])).toBe(false);
  });
});

describe('operationsOf(), the API operations of lists,', () => {
  test('returns the API paths of allowlists', () => {
    expect(operationsOf('allow').approve).toBe('POST /allowlist-sources/{id}/approve');
    expect(operationsOf('block').list).toBe('GET /blocklist-sources');
  });
});
