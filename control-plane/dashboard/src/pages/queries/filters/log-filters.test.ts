import { describe, expect, test } from '@jest/globals';
import { chipsOf, choicesOf, conditionFault, filtersOf, NO_FILTERS, unclearable } from './log-filters.ts';

describe('filtersOf()', () => {
  test('sends the fields that are set', () => {
    const fields = { ...NO_FILTERS, period: '24h', domain: 'example', 'status!': 'CACHED' };
    expect(filtersOf(fields)).toEqual({ period: '24h', domain: 'example', 'status!': 'CACHED' });
    expect(filtersOf(NO_FILTERS)).toEqual({});
  });

  test('omits other fields of the URL', () => {
    expect(filtersOf({ ...NO_FILTERS, open: '7' } as typeof NO_FILTERS)).toEqual({});
  });
});

describe('chipsOf()', () => {
  test('has each condition except the one in the search box', () => {
    const fields = { ...NO_FILTERS, domain: 'example', 'domain!': 'cdn', client: '192.0.2.7' };
    expect(chipsOf(fields)).toEqual([
      { key: 'domain!', name: 'domain', isExcluded: true, value: 'cdn' },
      { key: 'client', name: 'client', isExcluded: false, value: '192.0.2.7' },
    ]);
  });
});

describe('unclearable()', () => {
  const fields = {
    ...NO_FILTERS,
    period: '24h',
    domain: 'example',
    client: '192.0.2.7',
    'client!': '192.0.2.8',
  };

  test('has each condition, and not the period', () => {
    expect(unclearable(fields, false).map(({ key }) => key)).toEqual(['domain', 'client', 'client!']);
    expect(unclearable({ ...NO_FILTERS, period: '24h' }, false)).toEqual([]);
  });

  test('does not have the device that is cleared', () => {
    expect(unclearable(fields, true).map(({ key }) => key)).toEqual(['domain', 'client!']);
    expect(unclearable({ ...NO_FILTERS, client_id: '7' }, true)).toEqual([]);
  });
});

describe('choicesOf()', () => {
  test('offers all blocked queries before single reasons', () => {
    expect(choicesOf('status')).toEqual(expect.arrayContaining(['BLOCKED', 'BLOCKED_LIST', 'ALLOWED']));
    expect(choicesOf('status')![0]).toBe('BLOCKED');
    expect(choicesOf('client')).toBeNull();
  });
});

describe('conditionFault()', () => {
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
  ] as const)('checks the filter %s=%s', (name, text, fault) => {
    expect(conditionFault(name, text)).toBe(fault);
  });
});
