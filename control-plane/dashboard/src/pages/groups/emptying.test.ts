import { describe, expect, test } from '@jest/globals';
import { emptyingOf } from './emptying.ts';

describe('emptyingOf()', () => {
  const list = (id: number, ...groupIds: number[]): { id: number; name: string; group_ids: number[] } => ({
    id,
    name: `list ${id}`,
    group_ids: groupIds,
  });

  test('names all that refers to the group, and nothing of others', () => {
    const emptying = emptyingOf(2, {
      clientIds: [7],
      subnets: [
        { id: 1, group_id: 2 },
        { id: 2, group_id: 3 },
      ],
      blocklists: [list(1), list(2, 2, 3), list(3, 3)],
      allowlists: [],
      domains: [
        { id: 4, group_id: 2 },
        { id: 5, group_id: null },
      ],
      patterns: [{ id: 6, group_id: 2 }],
    });
    expect(emptying).toEqual({
      clientIds: [7],
      subnetIds: [1],
      blocklists: [{ id: 2, groupIds: [3] }],
      allowlists: [],
      domainIds: [4],
      patternIds: [6],
      lastLists: [],
    });
  });

  test('leaves a list of this group alone to a person: naming no group it would serve all', () => {
    const none = { clientIds: [], subnets: [], domains: [], patterns: [] };
    const emptying = emptyingOf(2, { ...none, blocklists: [list(1, 2)], allowlists: [list(9, 2)] });
    expect(emptying.lastLists).toEqual(['list 1', 'list 9']);
    expect([emptying.blocklists, emptying.allowlists]).toEqual([[], []]);
  });
});
