import { describe, expect, test } from '@jest/globals';
import { addSeen, isManual, newRecord } from './client-record.ts';
import type { ClientRecord } from './client-record.ts';

const record = (change: Partial<ClientRecord> = {}): ClientRecord => ({
  ...newRecord('192.0.2.7', null, ''),
  ...change,
});

describe('isManual()', () => {
  test.each<[string, Partial<ClientRecord>, boolean]>([
    ['no settings', {}, false],
    ['observed data only', { hostname: 'tv', addresses: ['192.0.2.7'], lastSeenMs: 1 }, false],
    ['a name', { name: 'TV' }, true],
    ['a group', { groupId: 1 }, true],
    ['a key', { key: 'tv' }, true],
    ['a merge', { deviceId: 4 }, true],
    ['an exclusion', { excludeFromStats: true }, true],
  ])('of a client with %s is %p', (_, change, expected) => {
    expect(isManual(record(change))).toBe(expected);
  });
});

test('addSeen() adds stored and new queries, and keeps the first and the last time', () => {
  const into = record({ newQueries: 1, firstSeenMs: 50, lastSeenMs: null });
  addSeen(into, record({ storedQueries: 40, newQueries: 2, firstSeenMs: 40, lastSeenMs: 60 }));
  expect(into).toMatchObject({ newQueries: 43, firstSeenMs: 40, lastSeenMs: 60 });
});
