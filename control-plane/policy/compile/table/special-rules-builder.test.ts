import { describe, expect, test } from '@jest/globals';
import { SpecialRulesLayout as L } from '../../../../shared/snapshot/layout.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { SpecialMatcher } from '../../../../shared/snapshot/special-matcher.ts';
import {
  type SpecialRule,
  checkSpecialRules,
  countSpecialRules,
  readSpecialRules,
} from '../../../../shared/snapshot/special-rules.ts';
import { openLists, queryFor } from '../../../../test/support/parts/test-lists.ts';
import { SpecialRuleSet } from './special-rule-set.ts';
import { buildSpecialRules, encodeSpecialRules } from './special-rules-builder.ts';

const EMPTY = openLists([]);
const SEEDS = { low: EMPTY.rules.seedLow, high: EMPTY.rules.seedHigh };

function rule(match: SpecialRule['match'], text: string, source = 0): SpecialRule {
  return { source, line: 1, kind: RuleKind.BLOCK_SUFFIX, match, text, rule: text };
}

/** Texts of the rules that match a name if the sources with a 1 in `sources` are active. */
function met(buffer: SharedArrayBuffer, name: string, sources = [1, 1]): string[] {
  const matcher = new SpecialMatcher(buffer, SEEDS.low, SEEDS.high);
  const texts: string[] = [];
  matcher.forEachMatch(queryFor(name, EMPTY), Uint8Array.from(sources), (index) =>
    texts.push(matcher.rule(index).text),
  );
  return texts.sort();
}

describe('buildSpecialRules()', () => {
  test('writes rules of every kind so that a lookup finds each of them', () => {
    const rules = [
      rule('exact', 'exact.example'),
      rule('suffix', 'suffix.example'),
      rule('below', 'below.example'),
      rule('pattern', '||tracker*x.example^'),
      rule('regex', '^[a-z]{3}[0-9]\\.example$', 1),
    ];
    const buffer = buildSpecialRules(rules, SEEDS);
    expect(() => checkSpecialRules(buffer)).not.toThrow();
    expect(readSpecialRules(buffer)).toEqual(rules);
    expect(countSpecialRules(buffer)).toEqual({ rules: 5, textRules: 2 });
    expect(met(buffer, 'exact.example')).toEqual(['exact.example']);
    expect(met(buffer, 'a.exact.example')).toEqual([]);
    expect([met(buffer, 'suffix.example'), met(buffer, 'a.suffix.example')]).toEqual([
      ['suffix.example'],
      ['suffix.example'],
    ]);
    expect([met(buffer, 'below.example'), met(buffer, 'a.below.example')]).toEqual([[], ['below.example']]);
    expect(met(buffer, 'a.tracker-x.example')).toEqual(['||tracker*x.example^']);
    expect(met(buffer, 'abc7.example')).toEqual(['^[a-z]{3}[0-9]\\.example$']);
    expect(met(buffer, 'abc7.example', [1, 0])).toEqual([]);
  });

  test('if there are no rules, writes a buffer that matches no name', () => {
    const buffer = buildSpecialRules([], SEEDS);
    expect(() => checkSpecialRules(buffer)).not.toThrow();
    expect(countSpecialRules(buffer)).toEqual({ rules: 0, textRules: 0 });
    expect(met(buffer, 'a.example')).toEqual([]);
  });

  test('writes many names, and several rules for one name, so that a lookup finds all of them', () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${index}.example`);
    const buffer = buildSpecialRules(
      [...names.map((name) => rule('exact', name)), rule('suffix', 'n7.example')],
      SEEDS,
    );
    for (const name of names)
      expect(met(buffer, name)).toEqual(name === 'n7.example' ? ['n7.example', 'n7.example'] : [name]);
    expect(met(buffer, 'n300.example')).toEqual([]);
  });

  test('writes many literals with the same first letters so that a lookup finds all of them', () => {
    const texts = Array.from({ length: 200 }, (_, index) => `||track${index}-*x.example^`);
    const buffer = buildSpecialRules(
      texts.map((text) => rule('pattern', text)),
      SEEDS,
    );
    const words = new Int32Array(buffer);
    expect(words[L.GRAM_SLOTS_WORD]).toBeGreaterThanOrEqual(1024);
    for (const [index, text] of texts.entries())
      expect(met(buffer, `track${index}-ax.example`)).toEqual([text]);
  });
});

describe('encodeSpecialRules()', () => {
  test('writes each rule as the callback returns it, and leaves out rules and their automata if it returns null', () => {
    const set = new SpecialRuleSet();
    for (const own of [
      rule('regex', '^[ab]{2}[0-9]'),
      rule('suffix', 'a.example'),
      rule('exact', 'b.example'),
    ])
      expect(set.add(own)).toBeNull();
    const buffer = encodeSpecialRules(set, SEEDS, (own) =>
      own.match === 'regex' ? null : { ...own, takenBackBy: [1] },
    );
    expect(readSpecialRules(buffer)).toEqual([
      { ...rule('suffix', 'a.example'), takenBackBy: [1] },
      { ...rule('exact', 'b.example'), takenBackBy: [1] },
    ]);
    expect(new Int32Array(buffer)[L.ALWAYS_COUNT_WORD]).toBe(0);
    expect(met(buffer, 'ab7.a.example')).toEqual(['a.example']);
    expect(met(buffer, 'b.example')).toEqual(['b.example']);
  });
});
