import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { type KeyCounts, KeySums, type Weight } from './key-sums.ts';
import { KeyTable } from './key-table.ts';

type Row = readonly [string, readonly [number, number, number]];

function sumsOf(rows: readonly Row[], max?: number): KeySums<KeyCounts> {
  const table = new KeyTable(max);
  for (const [key, [resolved, blocked, other]] of rows) {
    const bytes = Buffer.from(key);
    const place = table.place(bytes, 0, bytes.length, 0);
    table.resolved[place]! += resolved;
    table.blocked[place]! += blocked;
    table.other[place]! += other;
  }
  return new KeySums(table, (counts) => counts);
}

const WEIGHTS: Record<Weight, (counts: KeyCounts) => number> = {
  resolved: ({ resolved }) => resolved,
  blocked: ({ blocked }) => blocked,
  'not blocked': ({ resolved, other }) => resolved + other,
  all: ({ resolved, blocked, other }) => resolved + blocked + other,
};

describe('KeySums', () => {
  test('top() returns the largest counts, sorted by text if equal, without zero counts', () => {
    const count = fc.nat(3);
    const key = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 4 });
    const rows = fc.uniqueArray(fc.tuple(key, fc.tuple(count, count, count)), { selector: ([text]) => text });
    const weight = fc.constantFrom<Weight>('resolved', 'blocked', 'not blocked', 'all');
    fc.assert(
      fc.property(rows, weight, fc.integer({ min: 1, max: 12 }), (list, by, limit) => {
        const sums = sumsOf(list);
        const naive = list
          .map(([text, [resolved, blocked, other]]) => [text, { resolved, blocked, other }] as const)
          .filter(([, counts]) => WEIGHTS[by](counts) > 0)
          .sort(([a, x], [b, y]) => WEIGHTS[by](y) - WEIGHTS[by](x) || (a < b ? -1 : 1))
          .slice(0, limit);
        expect(sums.top(limit, by)).toEqual(naive);
        const asked = list.filter(([, counts]) => counts.some((queries) => queries > 0));
        expect(Object.keys(Object.fromEntries(sums)).sort()).toEqual(asked.map(([text]) => text).sort());
        expect([sums.distinct, sums.isEstimate]).toEqual([asked.length, false]);
      }),
    );
  });

  test('is an estimate after keys were removed, or if it was created from an incomplete table', () => {
    const rows = Array.from({ length: 20_000 }, (_, i): Row => [`n${i}`, [i === 7 ? 50 : 1, 0, 0]]);
    const sums = sumsOf(rows, 5000);
    expect(sums.isEstimate).toBe(true);
    expect(Math.abs(sums.distinct / 20_000 - 1)).toBeLessThan(0.06);
    expect(sums.top(1, 'all')).toEqual([['n7', { resolved: 50, blocked: 0, other: 0 }]]);
    expect(new KeySums(new KeyTable(), (counts) => counts, true).isEstimate).toBe(true);
  });
});
