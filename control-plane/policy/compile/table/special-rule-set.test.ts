import { describe, expect, jest, test } from '@jest/globals';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { AutomatonReader } from '../../../../shared/snapshot/automaton-reader.ts';
import { SpecialMatcher } from '../../../../shared/snapshot/special-matcher.ts';
import type { SpecialRule } from '../../../../shared/snapshot/special-rules.ts';
import { openLists, queryFor } from '../../../../test/support/parts/test-lists.ts';
import { LIST_BUDGET, LISTS_BUDGET } from './rule-budget.ts';
import { SpecialRuleSet } from './special-rule-set.ts';
import { encodeSpecialRules } from './special-rules-builder.ts';

const EMPTY = openLists([]);
const SEEDS = { low: EMPTY.rules.seedLow, high: EMPTY.rules.seedHigh };

function rule(match: SpecialRule['match'], text: string, source = 0): SpecialRule {
  return { source, line: 1, kind: RuleKind.BLOCK_SUFFIX, match, text, rule: text };
}

/** Expressions whose automata cannot be merged efficiently: each needs separate states for the last letters. */
function stubborn(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const [one, other] = [at % 26, Math.floor(at / 26)].map((letter) => String.fromCharCode(97 + letter));
    return `[${one!}-z][a-z0-9.-]{6}${other!}${one!}`;
  });
}

/** Number of automata that run on a name while all lists are active. */
function readings(
  set: SpecialRuleSet,
  name: string,
  counts = [1, 1, 1, 1],
): { automata: number; met: number[] } {
  const matcher = new SpecialMatcher(encodeSpecialRules(set, SEEDS), SEEDS.low, SEEDS.high);
  const find = jest.spyOn(AutomatonReader.prototype, 'find');
  const met: number[] = [];
  try {
    matcher.forEachMatch(queryFor(name, EMPTY), Uint8Array.from(counts), (index) => met.push(index));
    return { automata: find.mock.calls.length, met: met.sort((a, b) => a - b) };
  } finally {
    find.mockRestore();
  }
}

describe('SpecialRuleSet', () => {
  test('add() indexes a rule where a lookup costs least', () => {
    const set = new SpecialRuleSet();
    const rules = [
      rule('regex', '^tracker[0-9]'),
      rule('regex', '(ads|beacon)[0-9]'),
      rule('regex', '^[a-z]{3}[0-9]'),
      rule('pattern', '||tracker*x^'),
      rule('pattern', '||a*bc^'),
      rule('suffix', 'ads.example'),
    ];
    expect(rules.map((own) => set.add(own))).toEqual(rules.map(() => null));
    const shown = set.placed.map(({ place }) =>
      place.at === 'literals'
        ? [place.grams.map(({ literal }) => literal.toString()).join(' '), place.automaton !== null]
        : place.at,
    );
    expect(shown).toEqual([
      ['tracker', true],
      ['ads beacon', true],
      'automaton',
      ['tracker', false],
      'automaton',
      'name',
    ]);
  });

  test('limits the automata that read every name, per list and in total, and reports the limit', () => {
    const set = new SpecialRuleSet();
    const taken = [0, 1, 2].map(
      (source) => stubborn(600).filter((text) => set.add(rule('regex', text, source)) === null).length,
    );
    expect(taken[0]).toBeGreaterThanOrEqual(LIST_BUDGET.automata);
    expect(taken[1]).toBeGreaterThan(0);
    expect(readings(set, 'a.example').automata).toBeLessThanOrEqual(LISTS_BUDGET.automata);
    expect(readings(set, 'a.example', [1, 0, 0]).automata).toBeLessThanOrEqual(LIST_BUDGET.automata);
    expect(set.add(rule('regex', '[b-y][a-z]{9}[0-9]', 0))).toMatch(/too many regular expressions/);
  });

  test('accepts 1,000 typical regular expressions without a literal', () => {
    const letter = (at: number): string => String.fromCharCode(97 + (at % 26));
    const shapes: readonly ((at: number) => string)[] = [
      (at) => `^[a-z]{${3 + (at % 17)}}[0-9]{${1 + (at % 5)}}\\.[a-z]{2,${3 + (at % 4)}}$`,
      (at) => `^[a-z0-9]{${8 + (at % 20)}}\\.[a-z]{2}$`,
      (at) => `[0-9]{${3 + (at % 9)}}-[0-9]{${2 + (at % 7)}}`,
      (at) => `(^|\\.)[0-9a-f]{${8 + (at % 24)}}\\.`,
      (at) => `^${letter(at)}[0-9]+${letter(at * 7)}?[.-]`,
      (at) => `[_.-]${letter(at)}[0-9]{1,${1 + (at % 6)}}[_.-]`,
      (at) => `^(.+[_.-])?${letter(at)}[0-9]*[_.-]${letter(at * 3)}`,
      (at) => `^[^.]{${20 + (at % 30)},}\\.`,
    ];
    const set = new SpecialRuleSet();
    for (let at = 0; at < 1000; at++) expect(set.add(rule('regex', shapes[at % 8]!(at)))).toBeNull();
    expect(readings(set, 'ab12.example').automata).toBeLessThan(160);
  });

  test('limits how many rules with the same three letters are checked for a name', () => {
    const set = new SpecialRuleSet();
    for (let at = 0; at < 400; at++) {
      expect(
        set.add(rule('regex', `com[a-z]*[0-9]{${1 + (at % 50)}}${String.fromCharCode(97 + (at % 26))}`)),
      ).toBeNull();
      expect(set.add(rule('pattern', `com*${String(at)}^`))).toBeNull();
    }
    expect(readings(set, 'www.com1a.com').automata).toBeLessThan(100);
    expect(readings(set, 'www.com1a.com').met).not.toEqual([]);
  });

  test('skips the rules of inactive lists, without running their automata', () => {
    const set = new SpecialRuleSet();
    for (const source of [0, 1])
      for (const text of ['^[a-z]+[0-9]', 'tracker[0-9]', '[a-z]{2,}7$'])
        set.add(rule('regex', text, source));
    set.add(rule('exact', 'tracker7', 1));
    expect(readings(set, 'tracker7', [1, 1]).met).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(readings(set, 'tracker7', [1, 0]).met).toEqual([0, 1, 2]);
    expect(readings(set, 'tracker7', [0, 0])).toEqual({ automata: 0, met: [] });
  });

  test('limits the rules for one name, per list and in total', () => {
    const set = new SpecialRuleSet();
    const add = (source: number): number =>
      Array.from({ length: 100 }, () => set.add(rule('suffix', 'com', source))).filter(
        (reason) => reason === null,
      ).length;
    expect([0, 1, 2, 3, 4].map(add)).toEqual([64, 64, 64, 64, 0]);
    expect(set.add(rule('suffix', 'com', 5))).toMatch(/too many rules with conditions for one name/);
    expect(set.add(rule('suffix', 'net', 0))).toBeNull();
  });

  test('limits the work of compiling a list, whatever its regular expressions are', () => {
    const set = new SpecialRuleSet();
    const heavy = Array.from(
      { length: 300 },
      (_, at) => `(?:[a-z]?[0-9]?){${480 - at}}[0-9]{3}(?:[a-z]?){${at + 90}}$`,
    );
    const reasons = heavy.map((text) => set.add(rule('regex', text)));
    expect(reasons.at(-1)).toMatch(/used up the time for compiling/);
    expect(set.add(rule('regex', '^[a-z]+[0-9]', 1))).toBeNull();
  });

  test('uses automata for patterns without three consecutive letters', () => {
    const set = new SpecialRuleSet();
    for (const text of ['||a*b.c^', '||x*y*z', 'a*b*c|']) expect(set.add(rule('pattern', text))).toBeNull();
    expect(readings(set, 'www.a1.b.c').met).toEqual([0, 2]);
    expect(readings(set, 'xy.zz').met).toEqual([1]);
  });

  test('does not change the indexes of later rules if a rule is left out', () => {
    const set = new SpecialRuleSet();
    for (const text of ['^a[0-9]', '^[a-z][0-9]', 'tracker']) set.add(rule('regex', text));
    set.hold(rule('regex', '(?=a)'));
    set.add(rule('regex', '[0-9]$'));
    expect(readings(set, 'a1').met).toEqual([0, 1, 4]);
    const left = encodeSpecialRules(set, SEEDS, (own) => (own.text === '^a[0-9]' ? null : own));
    const met: string[] = [];
    const matcher = new SpecialMatcher(left, SEEDS.low, SEEDS.high);
    matcher.forEachMatch(queryFor('a1', EMPTY), Uint8Array.of(1), (index) =>
      met.push(matcher.rule(index).text),
    );
    expect(met.sort()).toEqual(['[0-9]$', '^[a-z][0-9]']);
  });
});
