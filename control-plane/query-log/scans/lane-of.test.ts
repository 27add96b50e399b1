import { describe, expect, test } from '@jest/globals';
import { laneOf } from './lane-of.ts';
import type { Question } from './scan-messages.ts';

const HOUR_MS = 3_600_000;
const hours = (count: number) => ({ fromMs: 0, toMs: count * HOUR_MS });
const page = (request: object): Question => ({
  kind: 'page',
  request: { limit: 100, offset: 0, ...request },
});

describe('laneOf()', () => {
  test.each<[string, Question]>([
    ['the newest page', page({})],
    ['a page by cursor', page({ cursor: 'x', offset: 1_000_000 })],
    ['the newest page of a node', page({ node: 'a' })],
    ['the newest page whose filters are all open', page({ domain: undefined, not: { client: undefined } })],
    ['a search of an hour', page({ domain: 'ads', ...hours(1) })],
    ['figures of an hour', { kind: 'summary', span: hours(1) }],
    ['use of the cache in a year', { kind: 'cache-use', span: hours(8760) }],
    [
      'a timeline of a year',
      { kind: 'timeline', request: { ...hours(8760), granularity: 'day', timezone: 'UTC' } },
    ],
    [
      'a timeline of a client in an hour',
      {
        kind: 'timeline',
        request: { ...hours(1), granularity: 'minute', timezone: 'UTC', client: '192.0.2.1' },
      },
    ],
    ['a top list of an hour', { kind: 'top-clients', request: { ...hours(1), limit: 10 } }],
  ])('%s is quick', (_, question) => {
    expect(laneOf(question)).toBe('quick');
  });

  test.each<[string, Question]>([
    ['a search of all days', page({ domain: 'ads' })],
    ['a search since last year', page({ domain: 'ads', fromMs: 0 })],
    ['the newest page without a client', page({ not: { client: '192.0.2.7' } })],
    ['a page far behind', page({ offset: 100_000 })],
    ['figures of a day', { kind: 'summary', span: hours(24) }],
    ['a top list of a day', { kind: 'top-domains', request: { ...hours(24), limit: 10 }, which: 'allowed' }],
    [
      'a timeline of a group in a day',
      { kind: 'timeline', request: { ...hours(24), granularity: '15min', timezone: 'UTC', group_id: 2 } },
    ],
    ['an export', { kind: 'rows', selection: { from: null, to: null } }],
    ['the most asked names', { kind: 'most-asked', request: { nowMs: 0, days: 7, limit: 9 } }],
  ])('%s is long', (_, question) => {
    expect(laneOf(question)).toBe('long');
  });
});
