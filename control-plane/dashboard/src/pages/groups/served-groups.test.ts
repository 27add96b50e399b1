import { describe, expect, test } from '@jest/globals';
import { groupIdsAfter, servesGroup } from './served-groups.ts';

const ALL = [1, 2, 3];

describe('servesGroup()', () => {
  test('is true for named groups, and for every group if none is named', () => {
    expect([servesGroup([], 2), servesGroup([2], 2), servesGroup([1], 2)]).toEqual([true, true, false]);
  });
});

describe('groupIdsAfter()', () => {
  test('names all other groups if a list for every group excludes one', () => {
    expect(groupIdsAfter([], 2, ALL, false)).toEqual([1, 3]);
  });

  test('names no group if the list applies to every group again', () => {
    expect(groupIdsAfter([1, 3], 2, ALL, true)).toEqual([]);
    expect(groupIdsAfter([3], 1, ALL, true)).toEqual([1, 3]);
  });

  test('is null for the last group, because naming none means every group', () => {
    expect(groupIdsAfter([2], 2, ALL, false)).toBeNull();
    expect(groupIdsAfter([], 1, [1], false)).toBeNull();
  });
});
