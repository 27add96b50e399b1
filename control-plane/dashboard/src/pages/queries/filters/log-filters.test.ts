import { describe, expect, test } from '@jest/globals';
import { chipsOf, choicesOf, conditionFault, filtersOf, NO_FILTERS, unclearable } from './log-filters.ts';

describe('filtersOf(), the filters of the query log in the URL,', () => {
  test('contains the fields that are set', () => {
    const fields = { ...NO_FILTERS, period: '24h', domain: 'example', 'status!': 'CACHED' };
    expect(filtersOf(fields)).toEqual({ period: '24h', domain: 'example', 'status!': 'CACHED' });
    expect(filtersOf(NO_FILTERS)).toEqual({});
  });

  test('omits URL parameters that are not filters', () => {
    expect(filtersOf({ ...NO_FILTERS, open: '7' } as typeof NO_FILTERS)).toEqual({});
  });
});

describe('chipsOf(), the filters shown as chips,', () => {
  test('contains each filter except the domain in the search box', () => {
    const fields = { ...NO_FILTERS, domain: 'example', 'domain!': 'cdn', client: '192.0.2.7' };
    expect(chipsOf(fields)).toEqual([
      { key: 'domain!', name: 'domain', isExcluded: true, value: 'cdn' },
      { key: 'client', name: 'client', isExcluded: false, value: '192.0.2.7' },
    ]);
  });
});

describe('unclearable(), the filters that prevent clearing the log,', () => {
  const fields = {
    ...NO_FILTERS,
    period: '24h',
    domain: 'example',
    client: '192.0.2.7',
    'client!': '192.0.2.8',
  };

  test('contains each filter except the period', () => {
    expect(unclearable(fields, false).map(({ key }) => key)).toEqual(['domain', 'client', 'client!']);
    expect(unclearable({ ...NO_FILTERS, period: '24h' }, false)).toEqual([]);
  });

  test('does not contain the filter for the device whose queries are deleted', () => {
    expect(unclearable(fields, true).map(({ key }) => key)).toEqual(['domain', 'client!']);
    expect(unclearable({ ...NO_FILTERS, client_id: '7' }, true)).toEqual([]);
  });
});

describe('choicesOf(), the values offered for a filter,', () => {
  test('contain "all blocked queries" before single reasons', () => {
    expect(choicesOf('status')).toEqual(expect.arrayContaining(['BLOCKED', 'BLOCKED_LIST', 'ALLOWED']));
    expect(choicesOf('status')![0]).toBe('BLOCKED');
    expect(choicesOf('client')).toBeNull();
  });
});

describe('conditionFault(), the error for a filter,', () => {
  test.each([
    ['client', '192.0.2.7', null],
    ['client', '2001:db8::/32', null],
    ['client', 'laptop', 'queries.filter.notClient'],
    ['type', 'https', null],
    ['type', 'TYPE65', null],
    ['type', 'nonsense', 'queries.filter.notType'],
    ['rcode', 'NXDOMAIN', null],
    ['rcode', 'no error', 'queries.filter.notRcode'],
    ['upstream', '  ', 'queries.filter.empty'],
  ] as const)('is right for %s=%s', (name, text, fault) => {
    expect(conditionFault(name, text)).toBe(fault);
  });
});
