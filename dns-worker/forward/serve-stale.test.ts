import { describe, expect, test } from '@jest/globals';
import type { Clock } from '../../shared/clock.ts';
import { question } from '../../test/support/dns/built-messages.ts';
import type { Resolution } from '../resolve/resolver.ts';
import { RecentFailures } from './serve-stale.ts';

const WWW = question('www.example.org', 'A');

function failed(reason: 'timeout' | 'bogus'): Resolution {
  return { kind: 'failed', reason, rcode: 2, upstream: 0 };
}

describe('RecentFailures', () => {
  let nowMs = 0;
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

  test('has() knows a failure for five seconds', () => {
    const failures = new RecentFailures(clock);
    failures.note(WWW, failed('timeout'));
    nowMs += 4999;
    expect(failures.has(WWW)).toBe(true);
    expect(failures.has(question('www.example.org', 'AAAA'))).toBe(false);
    nowMs += 1;
    expect(failures.has(WWW)).toBe(false);
  });

  test('note() forgets what was answered, takes no bogus answer for a failure, and bounds what it keeps', () => {
    const failures = new RecentFailures(clock);
    failures.note(WWW, failed('timeout'));
    failures.note(WWW, failed('bogus'));
    expect(failures.has(WWW)).toBe(false);
    for (let i = 0; i <= 4096; i++)
      failures.note(question(`n${String(i)}.example.org`, 'A'), failed('timeout'));
    expect(failures.has(question('n0.example.org', 'A'))).toBe(false);
    expect(failures.has(question('n1.example.org', 'A'))).toBe(true);
  });
});
