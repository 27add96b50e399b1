import { describe, expect, test } from '@jest/globals';
import { joined, summaryParts } from '../../../../shared/policy/changes/change-codes.ts';
import { plainReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ChosenSetting } from '../choices/chosen-settings.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { ImportOutcomes } from './import-outcomes.ts';

const NO_QUERIES = new Map<string, number>();

/** A plan with these items but no objects. */
function planOf(...names: string[]): ImportPlan {
  const builder = new PlanBuilder();
  for (const name of names) builder.item('managed_domain', name);
  return builder.finish('pihole');
}

const setting = (more: Partial<ChosenSetting>): ChosenSetting => ({
  ...{ id: 'dns.ecs', key: 'dns.ecs', value: 'forward', items: [0], doubt: null },
  ...{ isSelected: false, canSelect: true, reason: null, ...more },
});

describe('ImportOutcomes', () => {
  test('reports for each item the best result of its objects, and counts the items', () => {
    const outcomes = new ImportOutcomes(planOf('made', 'changed', 'there', 'nothing'), [], []);
    outcomes.note([0, 1, 2], 'same');
    outcomes.note([0, 1], 'changed');
    outcomes.note([0], 'created');
    const { items, counts } = outcomes.report(true, null, NO_QUERIES);
    expect(items.map(({ name, result, reason }) => [name, result, reason])).toEqual([
      ['made', 'done', null],
      ['changed', 'changed', null],
      ['there', 'skipped', 'already in Weir'],
      ['nothing', 'not_mapped', null],
    ]);
    expect(counts).toEqual({ done: 1, changed: 1, skipped: 1, not_mapped: 1, differs: 0 });
    const summary = joined(summaryParts(outcomes.summary()!));
    expect(summary).toBe('settings of pihole: imported, 1 new, 1 changed');
  });

  test('returns no summary if everything existed already', () => {
    const outcomes = new ImportOutcomes(planOf('there'), [], []);
    outcomes.note([0], 'same');
    expect(outcomes.summary()).toBeNull();
  });

  test('reports each reason once, refusals before comments', () => {
    const outcomes = new ImportOutcomes(planOf('a'), [], []);
    outcomes.remark([0], plainReason('to know'));
    for (const reason of ['refused', 'refused']) outcomes.refuse([0], plainReason(reason));
    expect(outcomes.report(true, null, NO_QUERIES).items[0]!.reason).toBe('refused; to know');
  });

  test('reports the new value of a setting, or why it was not set', () => {
    const set = new ImportOutcomes(
      planOf('ecs'),
      [setting({ isSelected: true, reason: plainReason('to know') })],
      [],
    );
    expect(set.report(false, 7, NO_QUERIES).items[0]).toMatchObject({
      result: 'changed',
      reason: expect.stringMatching(/dns\.ecs.*; to know$/),
    });
    const left = new ImportOutcomes(
      planOf('ecs'),
      [setting({ reason: plainReason('no server answers') })],
      [],
    );
    expect(left.report(false, 7, NO_QUERIES)).toMatchObject({
      revision: 7,
      items: [
        { result: 'not_mapped', reason: expect.stringMatching(/^not selected: .*; no server answers$/) },
      ],
      settings: [{ key: 'dns.ecs', selected: false }],
    });
  });

  test('reports a setting that Weir proposes as a difference while it is not selected', () => {
    const own = setting({
      isOwn: true,
      reason: plainReason('names with private addresses are not answered'),
    });
    const { items, differences } = new ImportOutcomes(planOf('rebinding'), [own], []).report(
      true,
      null,
      NO_QUERIES,
    );
    expect(items[0]!.result).toBe('differs');
    expect(differences).toEqual([expect.objectContaining({ name: 'rebinding' })]);
  });
});
