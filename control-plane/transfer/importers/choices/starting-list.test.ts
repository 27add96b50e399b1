import { describe, expect, test } from '@jest/globals';
import { FIRST_SOURCE_URL } from '../../../lists/sources/first-source.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { startingList } from './starting-list.ts';

const LIST = { url: FIRST_SOURCE_URL, kind: 'block', name: 'First list', enabled: true, groups: [] };
const HERE = { sources: [LIST], groups: [{ name: 'Default' }, { name: 'Here' }], wasImported: false };
const URL = 'https://lists.example.org/a';
const NO_ANSWER = new Map<string, string>();

/** A plan with a group that is filtered and one that is not; without `url` it has no list. */
function planOf(url: string | undefined, groups: readonly string[] = ['Kids']): ImportPlan {
  const builder = new PlanBuilder();
  for (const name of ['Kids', 'Guests'])
    builder.group(name, { enabled: true, comment: '' }, builder.item('group', name));
  const source = { kind: 'block', name: 'a', comment: '', subdomains: false, enabled: true } as const;
  if (url !== undefined) builder.source({ ...source, url, groups }, builder.item('blocklist', 'a'));
  return builder.finish('pihole');
}

describe('startingList(), which asks about the list that Weir adds at its first start,', () => {
  test('asks no question if the list was deleted or disabled, or is also in the file', () => {
    expect(startingList(planOf(URL), { ...HERE, sources: [] }, NO_ANSWER)).toBeNull();
    expect(
      startingList(planOf(URL), { ...HERE, sources: [{ ...LIST, enabled: false }] }, NO_ANSWER),
    ).toBeNull();
    expect(startingList(planOf(FIRST_SOURCE_URL), HERE, NO_ANSWER)).toBeNull();
  });

  test('proposes to disable the list if the file blocks something and was not imported before', () => {
    const found = startingList(planOf(URL), HERE, NO_ANSWER)!;
    expect([found.question.choice, found.changed]).toEqual(['disable', { ...LIST, enabled: false }]);
    for (const [plan, here] of [
      [planOf(undefined), HERE],
      [planOf(URL), { ...HERE, wasImported: true }],
    ] as const)
      expect(startingList(plan, here, NO_ANSWER)!.question.choice).toBe('keep');
  });

  test('uses the answer of the user, or the proposal if the answer is unknown', () => {
    const choiceFor = (answer: string): string =>
      startingList(planOf(URL), HERE, new Map([['starting_list', answer]]))!.question.choice;
    expect(['keep', 'disable', 'perhaps'].map(choiceFor)).toEqual(['keep', 'disable', 'disable']);
  });

  test('does not apply the list to groups that the file does not filter, if it filters other groups', () => {
    const keep = new Map([['starting_list', 'keep']]);
    const { changed, reason } = startingList(planOf(URL), HERE, keep)!;
    expect(changed).toEqual({ ...LIST, groups: ['Default', 'Here', 'Kids'] });
    expect(reason).toContain('except for Guests');
    expect(startingList(planOf(URL, []), HERE, keep)!.changed).toBeNull();
  });
});
