import { describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../../../shared/dns/name.ts';
import { RuleOrigin } from '../../../../shared/snapshot/rule-origin.ts';
import { OWN_KINDS, RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { SMALL_ROWS } from '../../../../test/support/parts/small-policy.ts';
import { compiledFrom } from '../../../../test/support/parts/test-rules.ts';
import { containingLists } from './containing-lists.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX, ALLOW_EXACT } = RuleKind;

/** One name in four lists. */
const compiled = compiledFrom([
  { id: 1, names: [['a.example', BLOCK_SUFFIX]] },
  { id: 2, names: [['a.example', BLOCK_EXACT | ALLOW_EXACT]] },
  { id: 3, names: [['a.example', ALLOW_EXACT]] },
  { id: 4, names: [['a.example', BLOCK_EXACT]] },
]);
const rows = {
  ...SMALL_ROWS,
  sources: [
    { id: 1, name: 'all', kind: 'block', enabled: true, groupIds: [] },
    { id: 2, name: 'mixed', kind: 'block', enabled: true, groupIds: [7] },
    { id: 3, name: 'ours', kind: 'allow', enabled: false, groupIds: [] },
  ],
} as const;

function listsFor(groupId: number): string[] {
  const rule = { origin: RuleOrigin.LIST, index: attribute, kinds: OWN_KINDS, name };
  return containingLists({ compiled, rows }, [rule], groupId).map(
    ({ source, kind, action, rule: text, state }) => `${source} ${kind} ${action} ${text} ${state}`,
  );
}

const name = nameFromText('a.example')!;
/** Index of the only attribute in the table: that of the only name. */
const attribute = 0;

describe('containingLists()', () => {
  test('returns each list once for blocking and once for allowing, without deleted lists', () => {
    expect(listsFor(7)).toEqual([
      'all block block ||a.example^ active',
      'mixed block block a.example active',
      'mixed block allow @@|a.example^ active',
      'ours allow allow @@|a.example^ off',
    ]);
  });

  test('marks a list that applies to other groups only', () => {
    expect(listsFor(1)).toEqual([
      'all block block ||a.example^ active',
      'mixed block block a.example other_group',
      'mixed block allow @@|a.example^ other_group',
      'ours allow allow @@|a.example^ off',
    ]);
  });
});
