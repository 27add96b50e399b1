import { describe, expect, test } from '@jest/globals';
import type { Clock } from '../../shared/clock.ts';
import { textAnswer } from '../../test/support/dns/record-text.ts';
import { question } from '../../test/support/dns/built-messages.ts';
import type { Failed } from '../resolve/resolver.ts';
import { RecentFailures } from './recent-failures.ts';

const WWW = question('www.example.org', 'A');

function failed(reason: Failed['reason']): Failed {
  return { kind: 'failed', reason, rcode: 2, upstream: 0 };
}

describe('RecentFailures, failed queries that are not repeated at once,', () => {
  let nowMs = 0;
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

  test('has() is true for five seconds after a failed query', () => {
    const failures = new RecentFailures(clock);
    failures.note(WWW, failed('timeout'));
    nowMs += 4999;
    expect(failures.has(WWW)).toBe(true);
    expect(failures.has(question('www.example.org', 'AAAA'))).toBe(false);
    nowMs += 1;
    expect(failures.has(WWW)).toBe(false);
  });

  test('note() removes queries that get an answer or are bogus, and limits the number of remembered queries', () => {
    const failures = new RecentFailures(clock);
    failures.note(WWW, failed('timeout'));
    failures.note(WWW, failed('bogus'));
    expect(failures.has(WWW)).toBe(false);
    for (let i = 0; i <= 4096; i++)
      failures.note(question(`n${String(i)}.example.org`, 'A'), failed('timeout'));
    expect(failures.has(question('n0.example.org', 'A'))).toBe(false);
    expect(failures.has(question('n1.example.org', 'A'))).toBe(true);
  });

  test.each([
    ['a time-out', 'timeout', [1, 2, 4, 5, 5]],
    ['SERVFAIL', 'servfail', [1, 2, 4, 5, 5]],
    ['an unreachable server', 'network', [1, 1, 1]],
    ['a bogus answer', 'bogus', [5, 5]],
    ['an unusable answer', 'unusable', [5, 5]],
  ] as const)(
    'lifetimeSecs() for a failure by %s (%s) is %j s when it repeats',
    (_what, reason, expected) => {
      const failures = new RecentFailures(clock);
      const lifetimes = expected.map(() => {
        const failure = failed(reason);
        // Many clients may wait for the same outcome, which counts once.
        failures.note(WWW, failure);
        failures.note(WWW, failure);
        nowMs += 6000;
        return failures.lifetimeSecs(WWW, failure);
      });
      expect(lifetimes).toEqual(expected);
    },
  );

  test('lifetimeSecs() starts from the shortest time after an answer, or after half a minute', () => {
    const failures = new RecentFailures(clock);
    const fail = (): number => {
      const failure = failed('timeout');
      failures.note(WWW, failure);
      return failures.lifetimeSecs(WWW, failure);
    };
    expect([fail(), fail()]).toEqual([1, 2]);
    failures.note(WWW, { kind: 'answer', answer: textAnswer('', ''), upstream: 0 });
    expect([fail(), fail()]).toEqual([1, 2]);
    nowMs += 30_000;
    expect(fail()).toBe(1);
  });
});
