import { describe, expect, test } from '@jest/globals';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import {
  ALLOWED,
  ALLOWED_BY_LIST,
  blockedBy,
  CONDITIONAL,
  isAllowing,
  labelOf,
  MAX_RULE,
  NOT_BLOCKED,
  originOf,
  RuleMatchMemo,
  ruleOf,
  UNKNOWN,
} from './rule-match-memo.ts';

describe('blockedBy(), which packs a match into one integer,', () => {
  test.each([
    [RuleOrigin.LIST, 0, 0],
    [RuleOrigin.SPECIAL, MAX_RULE, 126],
    [RuleOrigin.REGEX, 12_345, 128],
  ])('keeps origin %d, rule %d and label %d', (origin, rule, label) => {
    const match = blockedBy(origin, rule, label);
    expect([originOf(match), ruleOf(match), labelOf(match)]).toEqual([origin, rule, label]);
    expect([NOT_BLOCKED, UNKNOWN, CONDITIONAL, ALLOWED, ALLOWED_BY_LIST]).not.toContain(match);
  });
});

describe('isAllowing()', () => {
  test('is true only for the two kinds of allow rules', () => {
    const matches = [
      ALLOWED,
      ALLOWED_BY_LIST,
      NOT_BLOCKED,
      UNKNOWN,
      CONDITIONAL,
      blockedBy(RuleOrigin.LIST, 0, 0),
    ];
    expect(matches.map(isAllowing)).toEqual([true, true, false, false, false, false]);
  });
});

describe('RuleMatchMemo.find(), a cache of matches by name,', () => {
  test('returns a remembered match only for the same name, policy version and client class', () => {
    const memo = new RuleMatchMemo();
    memo.remember(-5, 6, 7, 2, 77);
    expect(memo.find(-5, 6, 7, 2)).toBe(77);
    expect(memo.find(-4, 6, 7, 2)).toBe(UNKNOWN);
    expect(memo.find(-5, 7, 7, 2)).toBe(UNKNOWN);
    expect(memo.find(-5, 6, 8, 2)).toBe(UNKNOWN);
    expect(memo.find(-5, 6, 7, 3)).toBe(UNKNOWN);
  });

  test('returns nothing from an empty cache, even for version 0', () => {
    expect(new RuleMatchMemo().find(0, 0, 0, 0)).toBe(UNKNOWN);
  });

  test('stores four names in a set, and replaces one of them by a fifth name', () => {
    const memo = new RuleMatchMemo();
    const lows = Array.from({ length: 5 }, (_, n) => 1 + n * 65_536);
    const known = (): number[] => lows.map((low) => memo.find(low, 6, 7, 0));
    for (const [n, low] of lows.slice(0, 4).entries()) memo.remember(low, 6, 7, 0, 77 + n);
    expect(known()).toEqual([77, 78, 79, 80, UNKNOWN]);
    memo.remember(lows[4]!, 6, 7, 0, 81);
    expect(known().filter((match) => match === UNKNOWN)).toHaveLength(1);
    expect(known()[4]).toBe(81);
  });

  test('first replaces names stored for a different policy version', () => {
    const memo = new RuleMatchMemo();
    const lows = Array.from({ length: 5 }, (_, n) => 1 + n * 65_536);
    memo.remember(lows[1]!, 6, 6, 0, 70);
    for (const n of [0, 2, 3, 4]) memo.remember(lows[n]!, 6, 7, 0, 77);
    expect(lows.map((low) => memo.find(low, 6, 7, 0))).toEqual([77, UNKNOWN, 77, 77, 77]);
  });

  test('stores only the newest match of a name', () => {
    const memo = new RuleMatchMemo();
    memo.remember(1, 6, 7, 0, 77);
    memo.remember(1, 6, 8, 0, 78);
    expect([memo.find(1, 6, 7, 0), memo.find(1, 6, 8, 0)]).toEqual([UNKNOWN, 78]);
  });

  test('remembers that no rule matches a name', () => {
    const memo = new RuleMatchMemo();
    memo.remember(1, 2, 3, 0, NOT_BLOCKED);
    expect(memo.find(1, 2, 3, 0)).toBe(NOT_BLOCKED);
  });
});
