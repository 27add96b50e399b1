import { describe, expect, test } from '@jest/globals';
import { MostAskedNames, reasonToHold, WATCHED_NAMES } from './list-guard.ts';

const copy = (rules: number, blocked: string[] = [], allowed: string[] = []) => ({ rules, blocked, allowed });

describe('reasonToHold()', () => {
  test.each([
    [100, 50, null],
    [100, 49, 'held: the list shrank from 100 to 49 rules'],
    [1, 1, null],
    [3, 1, 'held: the list shrank from 3 to 1 rules'],
    [100, 999, null],
    [100, 1000, 'held: the list grew from 100 to 1000 rules'],
    [99, 1_000_000, null],
  ])('from %d to %d rules says %j', (before, next, reason) =>
    expect(reasonToHold(copy(before), copy(next))).toBe(reason),
  );

  test('names what would be newly blocked, the first five of it', () => {
    const used = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(reasonToHold(copy(1, ['a']), copy(1, used))).toBe(
      'held: it would block names that are much asked for here: b, c, d, e, f and 1 more',
    );
    expect(reasonToHold(copy(1, used), copy(1, used))).toBeNull();
  });

  test('names what would no longer be allowed', () => {
    expect(reasonToHold(copy(2, [], ['a', 'b']), copy(2, [], ['b', 'c']))).toBe(
      'held: it would no longer allow names that are much asked for here: a',
    );
  });
});

describe('MostAskedNames', () => {
  test('reads a short list each time, and a full one once a day', async () => {
    let nowMs = 0;
    let reads = 0;
    let length = 3;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const read = async (): Promise<string[]> => {
      reads++;
      return Array.from({ length }, (_, index) => `n${index}`);
    };
    const mostAsked = new MostAskedNames(read, clock);
    await mostAsked.names();
    length = WATCHED_NAMES;
    expect(await mostAsked.names()).toHaveLength(WATCHED_NAMES);
    await mostAsked.names();
    expect(reads).toBe(2);
    nowMs += 86_400_000;
    await mostAsked.names();
    expect(reads).toBe(3);
  });
});
