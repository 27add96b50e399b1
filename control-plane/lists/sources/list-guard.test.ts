import { describe, expect, test } from '@jest/globals';
import {
  type GuardedCopy,
  holdText,
  mayMatchMost,
  MostAskedNames,
  reasonToHold,
  reasonToHoldFirst,
  sampleOf,
  WATCHED_NAMES,
} from './list-guard.ts';

const copy = (
  rules: number,
  blocked: string[] = [],
  allowed: string[] = [],
  wide: Partial<GuardedCopy> = {},
): GuardedCopy => ({ rules, blocked, allowed, forEveryName: [], addressShare: 0, ...wide });
const ALL_TXT = { line: 7, rule: '*$dnstype=TXT' };
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}.example`);

describe('reasonToHold()', () => {
  test.each([
    [100, 50, null],
    [100, 49, 'held: the list shrank from 100 to 49 rules'],
    [1, 1, null],
    [3, 1, 'held: the list shrank from 3 to 1 rules'],
    [100, 999, null],
    [100, 1000, 'held: the list grew from 100 to 1000 rules'],
    [99, 1_000_000, null],
  ])('for an update from %d to %d rules returns %j', (before, next, reason) => {
    const held = reasonToHold(copy(before), copy(next));
    expect(held && holdText(held)).toBe(reason);
    expect(held === null || [held.rules_in_force, held.rules]).toEqual(reason === null || [before, next]);
  });

  test('names the first frequently queried domains that would be newly blocked', () => {
    const used = Array.from({ length: 30 }, (_, index) => `n${index}`);
    const held = reasonToHold(copy(1, ['n0']), copy(1, used))!;
    expect(holdText(held)).toBe(
      'held: it would block frequently queried names: n1, n2, n3, n4, n5 and 24 more',
    );
    expect(held).toEqual({
      reason: 'blocks_names',
      rules: 1,
      rules_in_force: 1,
      names: used.slice(1, 21),
      name_count: 29,
    });
    expect(reasonToHold(copy(1, used), copy(1, used))).toBeNull();
    // The reason of a list that is held because of its length also contains these names.
    expect(reasonToHold(copy(9, ['n0']), copy(1, ['n0', 'n1']))).toMatchObject({
      reason: 'shrank',
      names: ['n1'],
    });
  });

  test('names frequently queried domains that would no longer be allowed', () => {
    const held = reasonToHold(copy(2, [], ['a', 'b']), copy(2, [], ['b', 'c']))!;
    expect(held).toMatchObject({ reason: 'allows_less', names: ['a'], name_count: 1 });
    expect(holdText(held)).toBe('held: it would no longer allow frequently queried names: a');
  });
});

describe('reasonToHold() and reasonToHoldFirst()', () => {
  const plain = copy(1);
  const forAll = copy(1, [], [], { forEveryName: [ALL_TXT] });
  const wide = copy(1, [], [], { addressShare: 0.0321 });
  const ALL_REASON = 'held: line 7 applies to every name: *$dnstype=TXT';
  const WIDE_REASON = 'held: its address rules cover 3.21 % of all addresses';

  test.each([
    ['a first copy for every name', null, forAll, ALL_REASON],
    ['a first copy for many addresses', null, wide, WIDE_REASON],
    ['a first copy for 1/256 of all addresses', null, copy(1, [], [], { addressShare: 1 / 256 }), null],
    ['an update that newly applies to every name', plain, forAll, ALL_REASON],
    ['an update that newly applies to many addresses', plain, wide, WIDE_REASON],
    ['an update of a list that already applied to every name', forAll, forAll, null],
    ['an update of a list that already applied to many addresses', wide, wide, null],
    ['an update from many to more addresses', copy(1, [], [], { addressShare: 0.01 }), wide, WIDE_REASON],
    ['an update that applies to a few more addresses', copy(1, [], [], { addressShare: 0.02 }), wide, null],
  ])('decide correctly about %s', (_what, before, next, reason) => {
    const held = before === null ? reasonToHoldFirst(next, 0) : reasonToHold(before, next);
    expect(held && holdText(held)).toBe(reason);
    if (reason === ALL_REASON) expect(held).toMatchObject({ reason: 'every_name', wide_rules: [ALL_TXT] });
    if (reason === WIDE_REASON) expect(held).toMatchObject({ reason: 'addresses', address_percent: 3.21 });
  });

  test.each([
    [1000, 501, true],
    [1000, 500, false],
    [999, 999, false],
    [50_000, 25_001, true],
  ])(
    'if %d names were queried in the last day, and a first copy matches %d, holds the copy: %s',
    (known, matched, isHeld) => {
      for (const next of [copy(9, names(matched)), copy(9, [], names(matched))]) {
        const held = reasonToHoldFirst(next, known);
        expect(held === null || held.reason === 'most_names').toBe(true);
        expect(held !== null).toBe(isHeld);
        if (held === null) continue;
        expect(held).toMatchObject({ names: names(20), name_count: matched, rules: 9, rules_in_force: 0 });
        expect(holdText(held)).toMatch(
          /^held: it matches \d+ names of the last day, more than half: n0\.example/,
        );
      }
    },
  );
});

describe('sampleOf() and mayMatchMost()', () => {
  test('use every name of a short list, and an evenly spaced sample of a long list', () => {
    expect(sampleOf(names(4096))).toEqual(names(4096));
    const sample = sampleOf(names(50_000));
    expect([sample.length, new Set(sample).size, sample[0], sample.at(-1)]).toEqual([
      4096,
      4096,
      'n0.example',
      'n49987.example',
    ]);
    expect(mayMatchMost(copy(1, sample.slice(0, 1638)), sample)).toBe(false);
    expect(mayMatchMost(copy(1, [], sample.slice(0, 1639)), sample)).toBe(true);
  });
});

describe('MostAskedNames', () => {
  test('reads the frequently queried names of the last day again after ten minutes', async () => {
    let nowMs = 0;
    const asked: (readonly [number, number])[] = [];
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const mostAsked = new MostAskedNames(async (days, limit) => {
      asked.push([days, limit]);
      return ['a.example'];
    }, clock);
    await mostAsked.ofLastDay();
    expect(await mostAsked.ofLastDay()).toEqual(['a.example']);
    expect(asked).toEqual([[1, 50_000]]);
    nowMs += 600_000;
    await mostAsked.ofLastDay();
    expect(asked).toHaveLength(2);
  });

  test('reads the names again on each call while there are few, and once a day after the maximum is reached', async () => {
    let nowMs = 0;
    let reads = 0;
    let length = 3;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const read = async (): Promise<string[]> => {
      reads++;
      return Array.from({ length }, (_, index) => `n${index}`);
    };
    const mostAsked = new MostAskedNames(read, clock);
    await mostAsked.names();
    length = WATCHED_NAMES;
    expect(await mostAsked.names()).toHaveLength(WATCHED_NAMES);
    await mostAsked.names();
    expect(reads).toBe(2);
    nowMs += 86_400_000;
    await mostAsked.names();
    expect(reads).toBe(3);
  });
});
