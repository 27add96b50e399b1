import { describe, expect, test } from '@jest/globals';
import { hashName, nameFromText } from '../../../../shared/dns/name.ts';
import { RuleTableLayout, checksumWords } from '../../../../shared/snapshot/layout.ts';
import { RuleKind, RuleTable } from '../../../../shared/snapshot/rule-table.ts';
import fc from '../../../../test/support/parts/fast-check.ts';
import { attributeCount, forEachPair, forEachPairLeft } from './attribute-table.ts';
import type { BuiltTable } from './rule-table-builder.ts';
import { RuleTableBuilder } from './rule-table-builder.ts';

const SEEDS = { low: 0x12345678, high: 0x9abcdef0 | 0 };
const { BLOCK_EXACT, BLOCK_SUFFIX, ALLOW_SUFFIX } = RuleKind;

function add(builder: RuleTableBuilder, name: string, kinds: number): void {
  const bytes = Buffer.from(`<${name}>`);
  builder.addName(bytes, 1, bytes.length - 1, kinds);
}

/** `source:kinds` of a name, or null if it is not in the table. */
function lookUp(built: BuiltTable, name: string, table = new RuleTable(built.rules)): string[] | null {
  const hash = { low: 0, high: 0 };
  hashName(nameFromText(name)!, 0, table.seedLow, table.seedHigh, hash);
  const attribute = table.find(hash.low, hash.high);
  if (attribute < 0) return null;
  const pairs: string[] = [];
  forEachPair(built.attributes, attribute, (source, kinds) => pairs.push(`${source}:${kinds}`));
  return pairs;
}

/** Pseudorandom numbers that are the same in each run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    yield (mixed ^ (mixed >>> 14)) >>> 0;
  }
}

describe('RuleTableBuilder', () => {
  test('disable() keeps a disabled rule for clients of other sources, and stays fast when repeated', () => {
    const builder = new RuleTableBuilder(SEEDS);
    for (const source of [0, 1, 2]) {
      builder.beginSource(source);
      add(builder, 'a.example', source === 2 ? ALLOW_SUFFIX | BLOCK_EXACT : BLOCK_SUFFIX);
      add(builder, 'b.example', BLOCK_SUFFIX);
    }
    const adblock = new Set([0, 2]);
    for (let again = 0; again < 100_000; again++) builder.disable('a.example', BLOCK_SUFFIX, 1, adblock);
    builder.disable('a.example', ALLOW_SUFFIX, 2, adblock);
    builder.disable('none.example', BLOCK_SUFFIX, 1, adblock);
    const { rules, attributes } = builder.finish();
    const table = new RuleTable(rules);
    const left = (name: string, counts: (by: number, source: number) => boolean): string[] => {
      const hash = { low: 0, high: 0 };
      hashName(nameFromText(name)!, 0, table.seedLow, table.seedHigh, hash);
      const attribute = table.find(hash.low, hash.high);
      const pairs: string[] = [];
      forEachPairLeft(attributes, attribute, counts, (source, kinds) => pairs.push(`${source}:${kinds}`));
      return pairs;
    };
    const whole = [`0:${BLOCK_SUFFIX}`, `1:${BLOCK_SUFFIX}`];
    expect(left('a.example', () => false)).toEqual([...whole, `2:${BLOCK_EXACT}`]);
    expect(left('a.example', (by) => by === 1)).toEqual([`1:${BLOCK_SUFFIX}`, `2:${BLOCK_EXACT}`]);
    expect(left('b.example', () => true)).toEqual([...whole, `2:${BLOCK_SUFFIX}`]);
  });

  test('loses no name when the table grows, even if the last buckets overflow to the first ones', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const builder = new RuleTableBuilder({ low: seed, high: ~seed });
      builder.beginSource(0);
      const names = Array.from({ length: 284 + seed * 11 }, (_, index) => `n${index}.example.com`);
      for (const name of names) add(builder, name, BLOCK_EXACT);
      const built = builder.finish();
      expect({ seed, lost: names.filter((name) => lookUp(built, name) === null) }).toEqual({
        seed,
        lost: [],
      });
    }
  });

  test('builds an empty table in which no name is found', () => {
    const built = new RuleTableBuilder(SEEDS).finish();
    expect(lookUp(built, 'example.com')).toBeNull();
    expect(attributeCount(built.attributes)).toBe(0);
  });

  test('finds a name by the hash of its lower-case wire format, but neither its parent nor its child', () => {
    const builder = new RuleTableBuilder(SEEDS);
    builder.beginSource(0);
    add(builder, 'Ads.Example.COM', BLOCK_EXACT);
    const built = builder.finish();
    expect(lookUp(built, 'ads.example.com')).toEqual(['0:1']);
    expect(lookUp(built, 'example.com')).toBeNull();
    expect(lookUp(built, 'x.ads.example.com')).toBeNull();
  });

  test('addName() computes the same hash as hashName(), for generated names', () => {
    const label = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
    fc.assert(
      fc.property(
        fc.array(label, { minLength: 1, maxLength: 8 }),
        fc.integer(),
        fc.integer(),
        (labels, low, high) => {
          const builder = new RuleTableBuilder({ low, high });
          builder.beginSource(0);
          add(builder, labels.join('.'), BLOCK_EXACT);
          expect(lookUp(builder.finish(), labels.join('.'))).toEqual(['0:1']);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('combines the rules of several sources for a name', () => {
    const builder = new RuleTableBuilder(SEEDS);
    builder.beginSource(0);
    for (const name of ['a.example', 'b.example', 'c.example']) add(builder, name, BLOCK_EXACT);
    add(builder, 'c.example', BLOCK_SUFFIX);
    add(builder, 'c.example', BLOCK_EXACT);
    builder.beginSource(1);
    add(builder, 'b.example', BLOCK_SUFFIX);
    builder.beginSource(4);
    for (const name of ['b.example', 'd.example']) add(builder, name, ALLOW_SUFFIX);
    const built = builder.finish();
    expect(lookUp(built, 'a.example')).toEqual(['0:1']);
    expect(lookUp(built, 'b.example')).toEqual(['0:1', '1:2', '4:8']);
    expect(lookUp(built, 'c.example')).toEqual(['0:3']);
    expect(lookUp(built, 'd.example')).toEqual(['4:8']);
  });

  test('removes attributes that no name uses, and counts the names of the other attributes', () => {
    const builder = new RuleTableBuilder(SEEDS);
    for (const source of [0, 1, 2]) {
      builder.beginSource(source);
      for (const name of ['a.example', 'b.example']) add(builder, name, BLOCK_EXACT);
    }
    const built = builder.finish();
    expect(Array.from(built.attributes.nameCounts)).toEqual([2]);
    expect(new RuleTable(built.rules).attributeCount).toBe(1);
    expect(lookUp(built, 'b.example')).toEqual(['0:1', '1:1', '2:1']);
  });

  test('beginSource() refuses indexes that are not ascending', () => {
    const builder = new RuleTableBuilder(SEEDS);
    builder.beginSource(1);
    expect(() => builder.beginSource(1)).toThrow(RangeError);
  });

  test('accepts more than 63 sources', () => {
    const builder = new RuleTableBuilder(SEEDS);
    for (let source = 0; source < 500; source++) {
      builder.beginSource(source);
      add(builder, 'a.example', source % 2 === 0 ? BLOCK_EXACT : BLOCK_SUFFIX);
    }
    const pairs = lookUp(builder.finish(), 'a.example')!;
    expect(pairs).toHaveLength(500);
    expect(pairs.at(-1)).toBe('499:2');
  });

  test.each([0, 150_000])(
    'finds the same rules as a Map of 200,000 names, with an initial capacity of %i',
    (expectedNames) => {
      const builder = new RuleTableBuilder(SEEDS, expectedNames);
      const oracle = new Map<string, Map<number, number>>();
      const random = numbers(7);
      const next = (below: number): number => random.next().value % below;
      for (let source = 0; source < 4; source++) {
        builder.beginSource(source);
        for (let index = 0; index < 80_000; index++) {
          // A third of the names are in several lists.
          const name = `n${next(250_000).toString(36)}.${['com', 'net', 'example.org'][next(3)]}`;
          const kinds = 1 << next(6);
          add(builder, name, kinds);
          const pairs = oracle.get(name) ?? new Map<number, number>();
          pairs.set(source, (pairs.get(source) ?? 0) | kinds);
          oracle.set(name, pairs);
        }
      }
      const built = builder.finish();
      expect(oracle.size).toBeGreaterThan(200_000);
      expect(built.nameCount).toBe(oracle.size);
      const table = new RuleTable(built.rules);
      const wrong = [...oracle].filter(
        ([name, pairs]) =>
          lookUp(built, name, table)?.join() !==
          [...pairs].map(([source, kinds]) => `${source}:${kinds}`).join(),
      );
      expect(wrong).toEqual([]);
      const unlisted = Array.from({ length: 20_000 }, (_, index) => `u${index}.example`);
      expect(unlisted.filter((name) => lookUp(built, name, table) !== null)).toEqual([]);
      const total = built.attributes.nameCounts.reduce((sum, count) => sum + count, 0);
      expect(total).toBe(oracle.size);
    },
  );

  test('fills 78 to 90 percent of the table, with at most 16.5 bytes per name', () => {
    const random = numbers(3);
    for (const names of [20_000, 21_000, 23_000, 27_000]) {
      const builder = new RuleTableBuilder(SEEDS);
      builder.beginSource(0);
      for (let index = 0; index < names; index++)
        builder.add(random.next().value | 0, random.next().value | 0, 1);
      const { rules } = builder.finish();
      const buckets = (rules.byteLength - 64) / 64;
      expect(names / (buckets * RuleTableLayout.NAMES_PER_BUCKET)).toBeGreaterThan(0.77);
      expect(rules.byteLength / names).toBeLessThan(16.5);
    }
  });

  test('finds names that share a bucket, overflow into the first bucket, or differ in half of the hash', () => {
    const builder = new RuleTableBuilder(SEEDS);
    builder.beginSource(0);
    // The highest low lanes belong to the last bucket; 40 of them continue in the first buckets.
    const lanes = Array.from({ length: 400 }, (_, index) => [
      index < 40 ? -1 - (index >> 1) : index,
      index % 7,
    ]);
    for (const [low, high] of lanes) builder.add(low!, high!, BLOCK_EXACT);
    const table = new RuleTable(builder.finish().rules);
    expect(lanes.every(([low, high]) => table.find(low!, high!) === 0)).toBe(true);
    expect(table.find(-1, 6)).toBe(-1);
    expect(table.find(-500, 0)).toBe(-1);
  });

  test('writes a checksum that detects a changed bit', () => {
    const builder = new RuleTableBuilder(SEEDS);
    builder.beginSource(0);
    add(builder, 'example.com', BLOCK_EXACT);
    const words = new Uint32Array(builder.finish().rules);
    const { CHECKSUM_WORD, HEADER_WORDS } = RuleTableLayout;
    expect(checksumWords(words, HEADER_WORDS)).toBe(words[CHECKSUM_WORD]);
    words[500]! ^= 1 << 9;
    expect(checksumWords(words, HEADER_WORDS)).not.toBe(words[CHECKSUM_WORD]);
  });

  test('add() refuses names beyond the maximum size of the table', () => {
    const builder = new RuleTableBuilder(SEEDS, 0, 64 * 200);
    builder.beginSource(0);
    const random = numbers(5);
    expect(() => {
      for (let index = 0; index < 2000; index++) builder.add(random.next().value | 0, index, 1);
    }).toThrow(/build the rule table: more than \d+ names do not fit/);
  });
});
