import { describe, expect, test } from '@jest/globals';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import {
  AttributeInterner,
  type AttributeTable,
  attributeCount,
  emptyAttributes,
  forEachPair,
  forEachPairLeft,
  hasDisabledRules,
} from './attribute-table.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX, ALLOW_SUFFIX } = RuleKind;

/** `source:kinds` of an attribute. */
function pairsOf(table: AttributeTable, attribute: number): string[] {
  const pairs: string[] = [];
  forEachPair(table, attribute, (source, kinds) => pairs.push(`${source}:${kinds}`));
  return pairs;
}

function leftOf(table: AttributeTable, attribute: number, by: readonly number[]): string[] {
  const pairs: string[] = [];
  const counts = (taker: number): boolean => by.includes(taker);
  forEachPairLeft(table, attribute, counts, (source, kinds) => pairs.push(`${source}:${kinds}`));
  return pairs;
}

describe('AttributeInterner', () => {
  test('first() returns the same set for names with the same attributes of one source, and counts the names', () => {
    const interner = new AttributeInterner();
    interner.beginSource(3);
    const set = interner.first(BLOCK_EXACT);
    expect(interner.first(BLOCK_EXACT)).toBe(set);
    expect(interner.first(BLOCK_SUFFIX)).not.toBe(set);
    const { table, renumber } = interner.finish();
    expect(attributeCount(table)).toBe(2);
    expect(pairsOf(table, renumber[set]!)).toEqual([`3:${BLOCK_EXACT}`]);
    expect([...table.nameCounts]).toEqual([2, 1]);
  });

  test('extend() combines attributes of one source, and keeps attributes of different sources apart', () => {
    const interner = new AttributeInterner();
    interner.beginSource(0);
    const one = interner.first(BLOCK_EXACT);
    expect(interner.extend(one, BLOCK_EXACT)).toBe(one);
    const both = interner.extend(one, BLOCK_SUFFIX);
    interner.beginSource(2);
    const two = interner.extend(both, ALLOW_SUFFIX);
    expect(interner.union(two)).toBe(BLOCK_EXACT | BLOCK_SUFFIX | ALLOW_SUFFIX);
    const { table, renumber } = interner.finish();
    expect(attributeCount(table)).toBe(1);
    expect(pairsOf(table, renumber[two]!)).toEqual([`0:${BLOCK_EXACT | BLOCK_SUFFIX}`, `2:${ALLOW_SUFFIX}`]);
  });

  test('extend() creates a new set if a later source has the same rule as an earlier source', () => {
    const interner = new AttributeInterner();
    interner.beginSource(0);
    const one = interner.first(BLOCK_SUFFIX);
    interner.first(BLOCK_SUFFIX);
    interner.beginSource(1);
    const two = interner.extend(one, BLOCK_SUFFIX);
    const { table, renumber } = interner.finish();
    expect(pairsOf(table, renumber[two]!)).toEqual([`0:${BLOCK_SUFFIX}`, `1:${BLOCK_SUFFIX}`]);
    expect([...table.nameCounts]).toEqual([1, 1]);
  });

  test('beginSource() refuses the index of a source that was already begun', () => {
    const interner = new AttributeInterner();
    interner.beginSource(0);
    expect(() => interner.beginSource(0)).toThrow(
      new RangeError('could not begin source 0: source 0 was already begun'),
    );
  });

  test('disable() disables rule kinds of the given sources once, and returns the same set if nothing changes', () => {
    const interner = new AttributeInterner();
    interner.beginSource(0);
    let set = interner.first(BLOCK_SUFFIX | BLOCK_EXACT);
    interner.beginSource(1);
    set = interner.extend(set, BLOCK_SUFFIX);
    interner.beginSource(2);
    expect(interner.disable(set, ALLOW_SUFFIX, 2, new Set([0, 1]))).toBe(set);
    expect(interner.disable(set, BLOCK_SUFFIX, 2, new Set())).toBe(set);
    const taken = interner.disable(set, BLOCK_SUFFIX, 2, new Set([0]));
    expect(interner.disable(taken, BLOCK_SUFFIX, 2, new Set([0]))).toBe(taken);
    const { table, renumber } = interner.finish();
    const attribute = renumber[taken]!;
    expect(attributeCount(table)).toBe(1);
    expect(hasDisabledRules(table, attribute)).toBe(true);
    expect(pairsOf(table, attribute)).toEqual([`0:${BLOCK_SUFFIX | BLOCK_EXACT}`, `1:${BLOCK_SUFFIX}`]);
    expect(leftOf(table, attribute, [2])).toEqual([`0:${BLOCK_EXACT}`, `1:${BLOCK_SUFFIX}`]);
    expect(leftOf(table, attribute, [1])).toEqual([`0:${BLOCK_SUFFIX | BLOCK_EXACT}`, `1:${BLOCK_SUFFIX}`]);
  });

  test('disable() from the same source as a rule removes the rule for all clients', () => {
    const interner = new AttributeInterner();
    interner.beginSource(0);
    const set = interner.first(BLOCK_SUFFIX);
    const other = interner.first(BLOCK_SUFFIX | BLOCK_EXACT);
    const taken = interner.disable(set, BLOCK_SUFFIX, 0, new Set([0]));
    const left = interner.disable(other, BLOCK_SUFFIX, 0, new Set([0]));
    const { table, renumber } = interner.finish();
    expect(pairsOf(table, renumber[taken]!)).toEqual([]);
    expect(pairsOf(table, renumber[left]!)).toEqual([`0:${BLOCK_EXACT}`]);
    expect(hasDisabledRules(table, renumber[left]!)).toBe(false);
  });
});

describe('forEachPair()', () => {
  test('calls nothing for an empty table, or for an index after the last attribute', () => {
    const table = emptyAttributes();
    expect(attributeCount(table)).toBe(0);
    expect([pairsOf(table, 0), leftOf(table, 7, []), hasDisabledRules(table, 0)]).toEqual([[], [], false]);
  });
});
