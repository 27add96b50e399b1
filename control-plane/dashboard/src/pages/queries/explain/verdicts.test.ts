import { describe, expect, test } from '@jest/globals';
import { grantOf, midnightAfter, touches } from './verdicts.ts';
import type { Grant } from './verdicts.ts';

const grant: Grant = {
  id: 1,
  domain: 'example.org',
  client_id: 7,
  group_id: null,
  action: 'allow',
  until: '2026-01-01T01:00:00.000Z',
  secs_left: 600,
  created_at: '2026-01-01T00:00:00.000Z',
};

describe('touches()', () => {
  test('covers the name and those below it, of its client only', () => {
    expect(touches(grant, 'Example.org', 7, 1)).toBe(true);
    expect(touches(grant, 'www.example.org', 7, 1)).toBe(true);
    expect(touches(grant, 'notexample.org', 7, 1)).toBe(false);
    expect(touches(grant, 'example.org', 8, 1)).toBe(false);
    expect(touches(grant, 'example.org', null, 1)).toBe(false);
  });

  test('covers every name of a group', () => {
    const all = { ...grant, domain: null, client_id: null, group_id: 2 };
    expect(touches(all, 'example.org', null, 2)).toBe(true);
    expect(touches(all, 'example.org', null, 1)).toBe(false);
  });
});

describe('grantOf()', () => {
  const now = new Date(2026, 0, 31, 22, 30);

  test('ends after a time', () => {
    expect(grantOf({ action: 'allow', span: 600 }, 'example.org', { client_id: 7 }, now)).toEqual({
      action: 'allow',
      domain: 'example.org',
      client_id: 7,
      secs: 600,
    });
  });

  test('ends at the next midnight of the place', () => {
    const body = grantOf({ action: 'block', span: 'midnight' }, 'example.org', { group_id: 2 }, now);
    expect(body.until).toBe(new Date(2026, 1, 1).toISOString());
    expect(midnightAfter(new Date(2026, 1, 1)).getDate()).toBe(2);
  });
});
