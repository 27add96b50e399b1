import { describe, expect, test } from '@jest/globals';
import { laneOf, type Question } from './questions.ts';

const HOUR_MS = 3_600_000;
const hours = (count: number) => ({ fromMs: 0, toMs: count * HOUR_MS });
const page = (request: object): Question => ({
  name: 'page',
  argument: { limit: 100, offset: 0, ...request },
});

describe('laneOf()', () => {
  test.each<[string, Question]>([
    ['the newest page', page({})],
    ['a page by cursor', page({ cursor: 'x', offset: 1_000_000 })],
    ['the newest page of a node', page({ node: 'a' })],
    ['the newest page with empty filters', page({ domain: undefined, not: { client: undefined } })],
    ['a search of an hour', page({ domain: 'ads', ...hours(1) })],
    ['statistics of an hour', { name: 'summary', argument: hours(1) }],
    ['use of the cache in a year', { name: 'cacheUse', argument: hours(8760) }],
    [
      'a timeline of a year',
      { name: 'timeline', argument: { ...hours(8760), granularity: 'day', timezone: 'UTC' } },
    ],
    [
      'a timeline of a client in an hour',
      {
        name: 'timeline',
        argument: { ...hours(1), granularity: 'minute', timezone: 'UTC', client: '192.0.2.1' },
      },
    ],
    ['a top list of an hour', { name: 'topClients', argument: { ...hours(1), limit: 10 } }],
  ])('returns "quick" for %s', (_, question) => {
    expect(laneOf(question)).toBe('quick');
  });

  test.each<[string, Question]>([
    ['statistics of a day', { name: 'summary', argument: hours(24) }],
    ['a top list of a day', { name: 'topDomains', argument: { ...hours(24), limit: 10, which: 'allowed' } }],
    ['the most frequently queried names', { name: 'mostAsked', argument: { nowMs: 0, days: 7, limit: 9 } }],
  ])('returns "sums" for %s', (_, question) => {
    expect(laneOf(question)).toBe('sums');
  });

  test.each<[string, Question]>([
    ['a search of all days', page({ domain: 'ads' })],
    ['a search since last year', page({ domain: 'ads', fromMs: 0 })],
    ['the newest page with a filter that excludes a client', page({ not: { client: '192.0.2.7' } })],
    ['a page with a high offset', page({ offset: 100_000 })],
    [
      'a top list of a client in a day',
      { name: 'topDomains', argument: { ...hours(24), limit: 10, which: 'allowed', client: '192.0.2.1' } },
    ],
    [
      'a timeline of a group in a day',
      { name: 'timeline', argument: { ...hours(24), granularity: '15min', timezone: 'UTC', group_id: 2 } },
    ],
    ['the client timeline of a day', { name: 'clientSlots', argument: { ...hours(24), stepMs: 1, max: 3 } }],
    ['an export', { name: 'rows', argument: { from: null, to: null } }],
  ])('returns "scan" for %s', (_, question) => {
    expect(laneOf(question)).toBe('scan');
  });
});
