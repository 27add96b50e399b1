import { describe, expect, test } from '@jest/globals';
import { Exclusion } from '../../shared/query-log.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { slotQuery } from '../../test/support/parts/slot-query.ts';
import { NameExclusions } from './name-exclusions.ts';
import { openSnapshot } from './open-snapshot.ts';

const snapshot = openSnapshot(snapshotOf([], {}, 1));

const exclusionOf = (exclusions: NameExclusions, name: string): number =>
  exclusions.of(slotQuery(snapshot, name));

describe('NameExclusions, names that are not logged or not counted,', () => {
  const exclusions = new NameExclusions(
    ['example.org', 'Mixed.Example', 'both.example'],
    ['deep.example.org', 'both.example'],
  );

  test.each([
    ['example.org', Exclusion.LOG],
    ['WWW.example.org', Exclusion.LOG],
    ['deep.example.org', Exclusion.BOTH],
    ['very.deep.example.org', Exclusion.BOTH],
    ['mixed.example', Exclusion.LOG],
    ['a.both.example', Exclusion.BOTH],
    ['notexample.org', Exclusion.NONE],
    ['example.org.example', Exclusion.NONE],
    ['org', Exclusion.NONE],
    ['.', Exclusion.NONE],
  ])('give %s the exclusion %d', (name, exclusion) => {
    expect(exclusionOf(exclusions, name)).toBe(exclusion);
  });

  test('exclude no name if no domain is configured', () => {
    expect(exclusionOf(new NameExclusions([], []), 'www.example.org')).toBe(Exclusion.NONE);
  });

  test('find each of thousands of configured domains', () => {
    const names = Array.from({ length: 5000 }, (_, index) => `name-${String(index)}.example`);
    const many = new NameExclusions([], names);
    for (const name of names) expect(exclusionOf(many, `www.${name}`)).toBe(Exclusion.STATS);
    expect(exclusionOf(many, 'name-5000.example')).toBe(Exclusion.NONE);
  });
});
