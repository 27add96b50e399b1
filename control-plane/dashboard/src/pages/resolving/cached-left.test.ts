import { describe, expect, test } from '@jest/globals';
import { cachedLeft } from './cached-left.ts';

const NOW_MS = Date.parse('2026-11-30T12:00:00Z');

describe('cachedLeft()', () => {
  test.each([
    [60, '2026-11-30T12:01:00Z', { state: 'valid', secs: 60 }],
    [0, '2026-11-30T12:00:15Z', { state: 'stale', secs: 15 }],
    [0, '2026-11-30T11:59:45Z', { state: 'expired' }],
    [0, '2026-11-30T12:00:00Z', { state: 'expired' }],
  ] as const)('with a TTL of %p, stale until %p, is %p', (ttlSecs, until, left) => {
    expect(cachedLeft({ ttl_secs: ttlSecs, stale_until: until }, NOW_MS)).toEqual(left);
  });
});
