import { describe, expect, test } from '@jest/globals';
import fc from '../../../../test/support/parts/fast-check.ts';
import { Ipv4Prefixes } from './ipv4-ranges.ts';

interface Prefix {
  readonly start: number;
  readonly length: number;
  readonly source: number;
  readonly record: number;
}

const endOf = ({ start, length }: Prefix): number => start + 2 ** (32 - length);

/** The record of an address according to the ranges. */
function recordAt(prefixes: readonly Prefix[], address: number): number {
  const gathered = new Ipv4Prefixes(prefixes.length);
  for (const { start, length, source, record } of prefixes) gathered.add(start, length, source, record);
  const { starts, records } = gathered.flatten();
  expect([...starts]).toEqual([...new Set(starts)].sort((a, b) => a - b));
  expect(starts[0]).toBe(0);
  let found = 0;
  while (found + 1 < starts.length && starts[found + 1]! <= address) found++;
  return records[found]!;
}

/** Reference implementation that checks every prefix. */
function naive(prefixes: readonly Prefix[], address: number): number {
  const met = prefixes.filter((prefix) => prefix.start <= address && address < endOf(prefix));
  met.sort((a, b) => b.length - a.length || b.source - a.source || b.record - a.record);
  return met[0]?.record ?? 0;
}

describe('Ipv4Prefixes', () => {
  test('flatten() gives each address its longest prefix; of equal prefixes, the higher source, then the later record', () => {
    const prefix = fc
      .tuple(fc.nat(32), fc.constantFrom(0, 1, 127, 128, 192, 255), fc.nat(255), fc.nat(3))
      .map(([length, first, last, source]) => {
        const whole = first * 2 ** 24 + last;
        const size = 2 ** (32 - length);
        return { start: Math.floor(whole / size) * size, length, source };
      });
    const address = fc.tuple(fc.constantFrom(0, 1, 127, 128, 192, 255), fc.nat(255));
    fc.assert(
      fc.property(fc.array(prefix, { maxLength: 8 }), address, (made, [first, last]) => {
        const prefixes = made.map((each, index) => ({ ...each, record: index + 1 }));
        const at = first * 2 ** 24 + last;
        for (const near of [at, Math.max(0, at - 1), 0, 2 ** 32 - 1])
          expect(recordAt(prefixes, near)).toBe(naive(prefixes, near));
      }),
      { numRuns: 500, seed: 13 },
    );
  });

  test('flatten() returns one range without a record if there are no prefixes', () => {
    const { starts, records } = new Ipv4Prefixes(0).flatten();
    expect([[...starts], [...records]]).toEqual([[0], [0]]);
  });
});
