import { describe, expect, test } from '@jest/globals';
import { groupIdsAfter, servesGroup } from './served-groups.ts';

const ALL = [1, 2, 3];

describe('servesGroup(), whether a list applies to a group,', () => {
  test('is true for the groups of the list, and for every group if the list has no groups', () => {
    expect([servesGroup([], 2), servesGroup([2], 2), servesGroup([1], 2)]).toEqual([true, true, false]);
  });
});

describe('groupIdsAfter(), the groups of a list after a change,', () => {
  test('are all groups but one if a list for every group excludes that group', () => {
    expect(groupIdsAfter([], 2, ALL, false)).toEqual([1, 3]);
  });

  test('are empty if the list applies to every group again', () => {
    expect(groupIdsAfter([1, 3], 2, ALL, true)).toEqual([]);
    expect(groupIdsAfter([3], 1, ALL, true)).toEqual([1, 3]);
  });

  test('are null when the last group is removed, because an empty list means every group', () => {
    expect(groupIdsAfter([2], 2, ALL, false)).toBeNull();
    expect(groupIdsAfter([], 1, [1], false)).toBeNull();
  });
});
