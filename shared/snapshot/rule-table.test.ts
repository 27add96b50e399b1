import { describe, expect, test } from '@jest/globals';
import { LAYOUT_VERSION, RULE_TABLE_MAGIC, RuleTableLayout as L, ruleTableBytes } from './layout.ts';
import { RuleTable } from './rule-table.ts';

/** A low lane that belongs to this bucket of four. */
function lowFor(bucket: number): number {
  return (bucket * 0x4000_0000 + 17) | 0;
}

interface Slot {
  readonly low: number;
  readonly high: number;
  readonly attribute: number;
}

/** A table of four buckets; `overflow` are the high lanes that did not fit into a bucket. */
function tableOf(
  slots: Readonly<Record<number, readonly Slot[]>>,
  overflow: Readonly<Record<number, number[]>> = {},
) {
  const buffer = new SharedArrayBuffer(ruleTableBytes(4));
  const words = new Int32Array(buffer);
  words[L.MAGIC_WORD] = RULE_TABLE_MAGIC;
  words[L.VERSION_WORD] = LAYOUT_VERSION;
  words[L.BUCKET_COUNT_WORD] = 4;
  for (const [bucket, names] of Object.entries(slots))
    for (const [slot, { low, high, attribute }] of names.entries()) {
      const at = L.HEADER_WORDS + Number(bucket) * L.BUCKET_WORDS + slot;
      words[at + L.LOW_AT] = low;
      words[at + L.HIGH_AT] = high;
      words[at + L.ATTRIBUTE_AT] = attribute + 1;
    }
  for (const [bucket, highs] of Object.entries(overflow))
    for (const high of highs)
      words[L.HEADER_WORDS + Number(bucket) * L.BUCKET_WORDS + L.OVERFLOW_AT]! |= 1 << high;
  return { buffer, words, table: () => new RuleTable(buffer) };
}

describe('RuleTable, the rules for names in a policy snapshot,', () => {
  test.each([
    ['another magic', L.MAGIC_WORD, 1],
    ['a different layout', L.VERSION_WORD, LAYOUT_VERSION - 1],
    ['more buckets than there is room for', L.BUCKET_COUNT_WORD, 5],
    ['fewer buckets than there are', L.BUCKET_COUNT_WORD, 3],
  ])('rejects a buffer of %s', (_, word, value) => {
    const { words, table } = tableOf({});
    words[word] = value;
    expect(table).toThrow(RangeError);
  });

  test('reads the values of its header', () => {
    const { words, table } = tableOf({});
    for (const [value, word] of [L.NAME_COUNT_WORD, L.ATTRIBUTE_COUNT_WORD, L.BUILD_WORD].entries())
      words[word] = 100 + value;
    words[L.SEED_LOW_WORD] = -5;
    words[L.SEED_HIGH_WORD] = 6;
    words[L.ADDRESS_COUNT_WORD] = 7;
    expect(table()).toMatchObject({
      nameCount: 100,
      attributeCount: 101,
      build: 102,
      seedLow: -5,
      seedHigh: 6,
      addressCount: 7,
    });
  });

  test('lists the lengths of address prefixes, the longest first', () => {
    const { words, table } = tableOf({});
    words[L.IPV4_PREFIXES_WORD] = (1 << 8) | (1 << 24);
    const { ipv4Prefixes, ipv6Prefixes } = table();
    expect([...ipv4Prefixes]).toEqual([24, 8]);
    expect([...ipv6Prefixes]).toEqual([]);
  });
});

describe('RuleTable.find()', () => {
  const [low, high] = [lowFor(2), 0x1234_5678];

  test('finds a name in any slot of its hash bucket', () => {
    const names = Array.from({ length: 5 }, (_, at) => ({ low, high: high + at, attribute: 10 + at }));
    const table = tableOf({ 2: names }).table();
    expect(names.map((name) => table.find(name.low, name.high))).toEqual([10, 11, 12, 13, 14]);
  });

  test('finds a name with attribute 0', () => {
    expect(
      tableOf({ 2: [{ low, high, attribute: 0 }] })
        .table()
        .find(low, high),
    ).toBe(0);
  });

  test('requires both halves of the hash to be equal', () => {
    const table = tableOf({ 2: [{ low, high, attribute: 1 }] }).table();
    expect([table.find(low, high ^ 1), table.find(low ^ 1, high), table.find(lowFor(1), high)]).toEqual([
      -1, -1, -1,
    ]);
  });

  test('finds no name in a free slot, for any hash', () => {
    expect(tableOf({}).table().find(0, 0)).toBe(-1);
  });

  test('continues with the next bucket, from the last with the first, if the bucket overflowed', () => {
    const late = { low: lowFor(3), high: 33, attribute: 4 };
    const table = (overflow: Record<number, number[]>) => tableOf({ 1: [late] }, overflow).table();
    expect(table({ 3: [33], 0: [33] }).find(late.low, late.high)).toBe(4);
    // The filter has a bit for the high lane modulo 32: a different lane has no effect.
    expect(table({ 3: [34], 0: [33] }).find(late.low, late.high)).toBe(-1);
    expect(table({ 3: [33] }).find(late.low, late.high)).toBe(-1);
  });

  test('terminates even if every bucket has overflowed', () => {
    const all = { 0: [1], 1: [1], 2: [1], 3: [1] };
    expect(tableOf({}, all).table().find(low, 1)).toBe(-1);
  });
});
