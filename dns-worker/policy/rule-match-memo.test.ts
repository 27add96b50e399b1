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

describe('blockedBy()', () => {
  test.each([
    [RuleOrigin.LIST, 0, 0],
    [RuleOrigin.SPECIAL, MAX_RULE, 126],
    [RuleOrigin.REGEX, 12_345, 128],
  ])('packs origin %d, rule %d and label %d, which are read back', (origin, rule, label) => {
    const match = blockedBy(origin, rule, label);
    expect([originOf(match), ruleOf(match), labelOf(match)]).toEqual([origin, rule, label]);
    expect([NOT_BLOCKED, UNKNOWN, CONDITIONAL, ALLOWED, ALLOWED_BY_LIST]).not.toContain(match);
  });
});

describe('isAllowing()', () => {
  test('holds for both kinds of allow rules only', () => {
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

describe('RuleMatchMemo.recall()', () => {
  test('knows what was remembered, for that name, version and class only', () => {
    const memo = new RuleMatchMemo();
    memo.remember(-5, 6, 7, 2, 77);
    expect(memo.recall(-5, 6, 7, 2)).toBe(77);
    expect(memo.recall(-4, 6, 7, 2)).toBe(UNKNOWN);
    expect(memo.recall(-5, 7, 7, 2)).toBe(UNKNOWN);
    expect(memo.recall(-5, 6, 8, 2)).toBe(UNKNOWN);
    expect(memo.recall(-5, 6, 7, 3)).toBe(UNKNOWN);
  });

  test('knows nothing at first, of version 0 either', () => {
    expect(new RuleMatchMemo().recall(0, 0, 0, 0)).toBe(UNKNOWN);
  });

  test('tells names of one slot apart', () => {
    const memo = new RuleMatchMemo();
    const slots = 262_144;
    memo.remember(1, 6, 7, 0, 77);
    memo.remember(1 + slots, 6, 7, 0, 78);
    expect([memo.recall(1, 6, 7, 0), memo.recall(1 + slots, 6, 7, 0)]).toEqual([UNKNOWN, 78]);
  });

  test('remembers that no rule matches', () => {
    const memo = new RuleMatchMemo();
    memo.remember(1, 2, 3, 0, NOT_BLOCKED);
    expect(memo.recall(1, 2, 3, 0)).toBe(NOT_BLOCKED);
  });
});
