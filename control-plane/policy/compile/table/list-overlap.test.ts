import { describe, expect, test } from '@jest/globals';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { encodeSpecialRules } from './special-rules-builder.ts';
import { coveredBelow, coveredBy, OverlapCount, type ActiveRules } from './list-overlap.ts';
import { RuleTableBuilder } from './rule-table-builder.ts';
import { SpecialRuleSet } from './special-rule-set.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX, BLOCK_BELOW, ALLOW_EXACT, IMPORTANT_BLOCK_SUFFIX } = RuleKind;
const SEEDS = { low: 3, high: -4 };

/** Builds active rules of these sources. */
function active(...sources: (readonly (readonly [string, number])[])[]): ActiveRules {
  const builder = new RuleTableBuilder(SEEDS);
  for (const [index, rules] of sources.entries()) {
    builder.beginSource(index);
    for (const [name, kind] of rules) builder.addName(Buffer.from(name), 0, name.length, kind);
  }
  const { rules, attributes } = builder.finish();
  return {
    rules,
    attributes,
    special: encodeSpecialRules(new SpecialRuleSet(), SEEDS, (rule) => rule),
    isOn: new Uint8Array(sources.length).fill(1),
    disables: new Uint8Array(sources.length ** 2),
  };
}

function measure(rules: ActiveRules, names: readonly (readonly [string, number])[]) {
  const count = new OverlapCount(rules);
  for (const [name, kind] of names) count.see(Buffer.from(name), 0, name.length, kind);
  const { bySource, ...overlap } = count.result();
  return { ...overlap, bySource: [...bySource] };
}

describe('OverlapCount', () => {
  test('counts each name and rule once, regardless of letter case', () => {
    const rules = active([]);
    const names = [
      ['a.example', BLOCK_EXACT],
      ['A.Example', BLOCK_EXACT],
      ['a.example', BLOCK_SUFFIX],
    ] as const;
    expect(measure(rules, names)).toEqual({ names: 1, rules: 2, covered: 0, bySource: [0] });
  });

  test('counts a rule of the list once for each source that also has a rule for the name or a parent', () => {
    const rules = active(
      [
        ['example', BLOCK_SUFFIX],
        ['a.example', BLOCK_EXACT],
      ],
      [['a.example', BLOCK_EXACT]],
    );
    const names = [
      ['a.example', BLOCK_EXACT],
      ['x.y.example', BLOCK_SUFFIX],
      ['a.other', BLOCK_EXACT],
    ] as const;
    expect(measure(rules, names)).toEqual({ names: 3, rules: 3, covered: 2, bySource: [2, 1] });
  });

  test('leaves out disabled sources, and rules that $badfilter disables', () => {
    const two = [[['a.example', BLOCK_EXACT]], [['a.example', BLOCK_EXACT]]] as const;
    const off = { ...active(...two), isOn: Uint8Array.of(0, 1) };
    expect(measure(off, [['a.example', BLOCK_EXACT]])).toMatchObject({ covered: 1, bySource: [0, 1] });
  });

  test('throws if a list has more names than its memory limit allows', () => {
    const count = new OverlapCount(active([]), 65_536);
    expect(() => {
      for (let at = 0; at < 10_000; at++) {
        const name = `n${at}.example`;
        count.see(Buffer.from(name), 0, name.length, BLOCK_EXACT);
      }
    }).toThrow(RangeError);
  });
});

describe('coverage by a rule', () => {
  test.each([
    [BLOCK_EXACT, BLOCK_EXACT, 0],
    [BLOCK_BELOW, BLOCK_BELOW, BLOCK_EXACT | BLOCK_SUFFIX | BLOCK_BELOW],
    [BLOCK_SUFFIX, BLOCK_EXACT | BLOCK_SUFFIX | BLOCK_BELOW, BLOCK_EXACT | BLOCK_SUFFIX | BLOCK_BELOW],
    [
      IMPORTANT_BLOCK_SUFFIX,
      IMPORTANT_BLOCK_SUFFIX | BLOCK_EXACT | BLOCK_SUFFIX | BLOCK_BELOW,
      IMPORTANT_BLOCK_SUFFIX | BLOCK_EXACT | BLOCK_SUFFIX | BLOCK_BELOW,
    ],
    [ALLOW_EXACT, ALLOW_EXACT, 0],
  ])('of kind %i includes rule kinds %i for the same name, and %i for names below it', (kind, own, below) => {
    expect([coveredBy(kind), coveredBelow(kind)]).toEqual([own, below]);
  });
});
