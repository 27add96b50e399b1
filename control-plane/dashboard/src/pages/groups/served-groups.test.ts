import { describe, expect, test } from '@jest/globals';
import { groupIdsAfter, servesGroup } from './served-groups.ts';

const ALL = [1, 2, 3];

describe('servesGroup()', () => {
  test('holds for named groups, and for every group without names', () => {
    expect([servesGroup([], 2), servesGroup([2], 2), servesGroup([1], 2)]).toEqual([true, true, false]);
  });
});

describe('groupIdsAfter()', () => {
  test('names all others where a list for every group is to leave one out', () => {
    expect(groupIdsAfter([], 2, ALL, false)).toEqual([1, 3]);
  });

  test('names none again once every group is served', () => {
    expect(groupIdsAfter([1, 3], 2, ALL, true)).toEqual([]);
    expect(groupIdsAfter([3], 1, ALL, true)).toEqual([1, 3]);
  });

  test('is not possible for the last group: no name means every group', () => {
    expect(groupIdsAfter([2], 2, ALL, false)).toBeNull();
    expect(groupIdsAfter([], 1, [1], false)).toBeNull();
  });
});
