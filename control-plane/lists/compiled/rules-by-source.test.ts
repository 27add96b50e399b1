import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { SMALL_ROWS } from '../../../test/support/parts/small-policy.ts';
import { compiledFrom } from '../../../test/support/parts/test-rules.ts';
import { RuleKind } from '../../../shared/snapshot/rule-table.ts';
import { countRulesBySource } from './rules-by-source.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX, BLOCK_BELOW, ALLOW_EXACT, ALLOW_SUFFIX, IMPORTANT_BLOCK_SUFFIX } =
  RuleKind;

/** Rule counts of lists with these names and kinds; their ids start at 1. */
function count(lists: readonly Readonly<Record<string, number>>[], disabled: readonly number[] = []) {
  const compiled = compiledFrom(lists.map((names, at) => ({ id: at + 1, names: Object.entries(names) })));
  const sources = lists.map((_, at) => {
    const id = at + 1;
    return { id, name: `list ${id}`, kind: 'block' as const, enabled: !disabled.includes(id), groupIds: [] };
  });
  const counts = countRulesBySource({ compiled, rows: { ...SMALL_ROWS, sources } }, []);
  return Object.fromEntries([...counts].map(([id, { rules, unique }]) => [id, [rules, unique]]));
}

describe('countRulesBySource()', () => {
  test('counts names that no other list contains', () => {
    const one = { 'a.example': BLOCK_EXACT, 'b.example': BLOCK_EXACT };
    expect(count([one, { 'b.example': BLOCK_EXACT }])).toEqual({ 1: [2, 1], 2: [1, 0] });
    expect(count([one])).toEqual({ 1: [2, 2] });
    expect(count([{}])).toEqual({ 1: [0, 0] });
  });

  test('ignores disabled lists and lists that could not be read', () => {
    const one = { 'a.example': BLOCK_EXACT };
    expect(count([one, one], [2])).toEqual({ 1: [1, 1] });
    const names = Object.entries(one);
    const compiled = compiledFrom([
      { id: 10, names },
      { id: 20, names, fault: 'no list' },
    ]);
    const counts = countRulesBySource({ compiled, rows: SMALL_ROWS }, []);
    expect([...counts]).toEqual([[10, { rules: 1, unique: 1 }]]);
  });

  test.each([
    ['a rule that includes subdomains is unique next to an exact rule', BLOCK_SUFFIX, BLOCK_EXACT, [1, 0]],
    [
      'a rule that includes the name is unique next to a rule for subdomains only',
      BLOCK_SUFFIX,
      BLOCK_BELOW,
      [1, 0],
    ],
    ['an exact rule and a rule for subdomains only are both unique', BLOCK_EXACT, BLOCK_BELOW, [1, 1]],
    ['an important rule is unique next to an ordinary rule', IMPORTANT_BLOCK_SUFFIX, BLOCK_SUFFIX, [1, 0]],
    ['an allow rule does not count as a block rule', BLOCK_EXACT, ALLOW_EXACT, [1, 1]],
    [
      'an allow rule that includes subdomains contains an exact allow rule',
      ALLOW_SUFFIX,
      ALLOW_EXACT,
      [1, 0],
    ],
  ])('for two lists: %s', (_, one, two, unique) => {
    const counted = count([{ 'a.example': one }, { 'a.example': two }]);
    expect([counted[1]![1], counted[2]![1]]).toEqual(unique);
  });

  test('returns the same counts as a comparison of the lists name by name', () => {
    const names = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      fc.integer({ min: 1, max: 255 }),
    );
    fc.assert(
      fc.property(
        fc.array(names, { minLength: 1, maxLength: 5 }),
        fc.subarray([1, 2, 3]),
        (lists, disabled) => {
          const isOn = (at: number): boolean => !disabled.includes(at + 1);
          const naive = lists.flatMap((list, at) => {
            const others = lists.filter((_, other) => other !== at && isOn(other));
            const isUnique = (name: string): boolean =>
              effects(list[name]!).some(
                (effect) => !others.some((o) => effects(o[name] ?? 0).includes(effect)),
              );
            const own = Object.keys(list);
            return isOn(at) ? [[at + 1, [own.length, own.filter(isUnique).length]]] : [];
          });
          expect(count(lists, disabled)).toEqual(Object.fromEntries(naive));
        },
      ),
    );
  });
});

/** Effects of kinds, as text. */
function effects(kinds: number): string[] {
  const has = (...bits: number[]): boolean => bits.some((bit) => (kinds & bit) !== 0);
  const { ALLOW_BELOW, IMPORTANT_ALLOW_SUFFIX } = RuleKind;
  const found: string[] = [];
  if (has(BLOCK_EXACT, BLOCK_SUFFIX, IMPORTANT_BLOCK_SUFFIX)) found.push('block it');
  if (has(BLOCK_BELOW, BLOCK_SUFFIX, IMPORTANT_BLOCK_SUFFIX)) found.push('block below');
  if (has(BLOCK_SUFFIX, IMPORTANT_BLOCK_SUFFIX)) found.push('block all');
  if (has(IMPORTANT_BLOCK_SUFFIX)) found.push('block, important');
  if (has(ALLOW_EXACT, ALLOW_SUFFIX, IMPORTANT_ALLOW_SUFFIX)) found.push('allow it');
  if (has(ALLOW_BELOW, ALLOW_SUFFIX, IMPORTANT_ALLOW_SUFFIX)) found.push('allow below');
  if (has(ALLOW_SUFFIX, IMPORTANT_ALLOW_SUFFIX)) found.push('allow all');
  if (has(IMPORTANT_ALLOW_SUFFIX)) found.push('allow, important');
  return found;
}
