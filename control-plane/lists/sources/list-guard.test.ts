import { describe, expect, test } from '@jest/globals';
import { holdText, MostAskedNames, reasonToHold, WATCHED_NAMES } from './list-guard.ts';

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
  ])('from %d to %d rules says %j', (before, next, reason) => {
    const held = reasonToHold(copy(before), copy(next));
    expect(held && holdText(held)).toBe(reason);
    expect(held === null || [held.rules_in_force, held.rules]).toEqual(reason === null || [before, next]);
  });

  test('names what would be newly blocked, the first of it', () => {
    const used = Array.from({ length: 30 }, (_, index) => `n${index}`);
    const held = reasonToHold(copy(1, ['n0']), copy(1, used))!;
    expect(holdText(held)).toBe(
      'held: it would block names that are much asked for here: n1, n2, n3, n4, n5 and 24 more',
    );
    expect(held).toEqual({
      reason: 'blocks_names',
      rules: 1,
      rules_in_force: 1,
      names: used.slice(1, 21),
      name_count: 29,
    });
    expect(reasonToHold(copy(1, used), copy(1, used))).toBeNull();
    // A list that is held for its length names them, too.
    expect(reasonToHold(copy(9, ['n0']), copy(1, ['n0', 'n1']))).toMatchObject({
      reason: 'shrank',
      names: ['n1'],
    });
  });

  test('names what would no longer be allowed', () => {
    const held = reasonToHold(copy(2, [], ['a', 'b']), copy(2, [], ['b', 'c']))!;
    expect(held).toMatchObject({ reason: 'allows_less', names: ['a'], name_count: 1 });
    expect(holdText(held)).toBe('held: it would no longer allow names that are much asked for here: a');
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
