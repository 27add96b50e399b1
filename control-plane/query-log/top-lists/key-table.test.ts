import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { KeyTable } from './key-table.ts';

type Counts = [resolved: number, blocked: number, other: number];

function add(table: KeyTable, text: string, tag: number, [resolved, blocked, other]: Counts): void {
  const bytes = Buffer.from(text, 'latin1');
  const place = table.place(bytes, 0, bytes.length, tag);
  table.resolved[place]! += resolved;
  table.blocked[place]! += blocked;
  table.other[place]! += other;
}

function entriesOf(table: KeyTable): Map<string, { tag: number; counts: Counts; missed: number }> {
  return new Map(
    Array.from({ length: table.size }, (_, place) => [
      `${table.text(place)} ${table.tags[place]}`,
      {
        tag: table.tags[place]!,
        counts: [table.resolved[place]!, table.blocked[place]!, table.other[place]!] as Counts,
        missed: table.unseen - table.known[place]!,
      },
    ]),
  );
}

const events = fc.array(
  fc.tuple(
    fc.oneof(fc.nat(8), fc.nat(1000)).map((i) => `n${i}.example`),
    fc.nat(2),
    fc.tuple(fc.nat(9), fc.nat(3), fc.nat(2)),
  ),
  { maxLength: 1500, size: 'max' },
);

function naiveSums(list: readonly (readonly [string, number, Counts])[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [text, tag, counts] of list) {
    const key = `${text} ${tag}`;
    sums.set(key, (sums.get(key) ?? 0) + counts[0] + counts[1] + counts[2]);
  }
  return sums;
}

/** Each sum is at least the count in the table, and at most that count plus what the table may have missed. */
function expectBounds(table: KeyTable, sums: ReadonlyMap<string, number>): void {
  const entries = entriesOf(table);
  for (const [key, sum] of sums) {
    const entry = entries.get(key);
    const counted = entry === undefined ? 0 : entry.counts[0] + entry.counts[1] + entry.counts[2];
    if (counted > sum || counted + (entry?.missed ?? table.unseen) < sum)
      throw new Error(`${key}: counted ${counted} of ${sum}, ${JSON.stringify(entry)}`);
  }
}

describe('KeyTable', () => {
  test('counts every key by tag while all keys fit', () => {
    fc.assert(
      fc.property(events, (list) => {
        const table = new KeyTable();
        const naive = new Map<string, Counts>();
        for (const [text, tag, counts] of list) {
          add(table, text, tag, counts);
          const sum = naive.get(`${text} ${tag}`) ?? [0, 0, 0];
          naive.set(`${text} ${tag}`, [sum[0] + counts[0], sum[1] + counts[1], sum[2] + counts[2]]);
        }
        expect(table.size).toBe(naive.size);
        expect(table.unseen).toBe(0);
        expect(table.sketch).toBeNull();
        const entries = [...entriesOf(table)];
        expect(new Map(entries.map(([key, { counts }]) => [key, counts]))).toEqual(naive);
        expect(entries.filter(([, { missed }]) => missed !== 0)).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });

  test('stores an upper bound for the counts of removed keys, even after tables are joined', () => {
    fc.assert(
      fc.property(events, events, fc.integer({ min: 2, max: 800 }), (first, second, max) => {
        const [a, b] = [new KeyTable(max), new KeyTable(max)];
        for (const [text, tag, counts] of first) add(a, text, tag, counts);
        for (const [text, tag, counts] of second) add(b, text, tag, counts);
        expectBounds(a, naiveSums(first));
        a.addTable(b);
        expect(a.size).toBeLessThanOrEqual(max);
        expectBounds(a, naiveSums([...first, ...second]));
        a.keepLargest(Math.ceil(max / 3), 1 << 20);
        expect(a.size).toBeLessThanOrEqual(Math.ceil(max / 3));
        expectBounds(a, naiveSums([...first, ...second]));
      }),
      { numRuns: 20 },
    );
  });

  test('keeps exact counts of frequent names in a flood of random names', () => {
    const table = new KeyTable();
    for (let i = 0; i < 500_000; i++) {
      add(table, `x${i}.flood.test`, 1, [1, 0, 0]);
      if (i % 100 === 0)
        for (let name = 0; name < 50; name++) add(table, `good${name}.example`, 1, [1, 0, 0]);
    }
    expect(table.size).toBeLessThanOrEqual(200_000);
    for (let name = 0; name < 50; name++) {
      const text = Buffer.from(`good${name}.example`);
      const place = table.find(text, 0, text.length, 1);
      expect([table.resolved[place], table.unseen - table.known[place]!]).toEqual([5000, 0]);
    }
    expect(table.unseen).toBeLessThan(20);
    expect(Math.abs(table.sketch!.size / 500_050 - 1)).toBeLessThan(0.05);
  });

  test('keepLargest() removes all or none of the keys with the same count, and limits the bytes', () => {
    const table = new KeyTable();
    for (let i = 0; i < 2000; i++) add(table, `often${i}.example`, 1, [2 + (i % 7), 0, 0]);
    for (let i = 0; i < 3000; i++) add(table, `once${i}.example`, 1, [1, 0, 0]);
    table.keepLargest(4000, 1 << 20);
    expect([table.size, table.unseen]).toEqual([2000, 1]);
    table.keepLargest(4000, 10_000);
    expect(table.starts[table.size]).toBeLessThanOrEqual(10_000);
    const few = new KeyTable();
    for (let i = 0; i < 20; i++) add(few, `once${i}.example`, 1, [1, 0, 0]);
    few.keepLargest(10, 1 << 20);
    expect(few.size).toBe(10);
  });

  test('find() finds only keys that were added', () => {
    const table = new KeyTable();
    add(table, 'a.example', 1, [1, 0, 0]);
    const text = Buffer.from('a.example');
    expect([table.find(text, 0, 9, 1), table.find(text, 0, 9, 2), table.find(text, 0, 8, 1)]).toEqual([
      0, -1, -1,
    ]);
  });
});
