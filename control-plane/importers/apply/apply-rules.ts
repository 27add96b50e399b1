/** Writes the managed domains and regex filters of a plan. */
import { newlyRefusedFilters } from '../../rules/filter-budget.ts';
import {
  insertRules,
  listRules,
  MANAGED_DOMAINS,
  REGEX_FILTERS,
  updateRule,
} from '../../rules/rule-store.ts';
import type { RuleFields, RuleTableName, StoredRule } from '../../rules/rule-store.ts';
import type { PlannedRule } from '../plan/import-plan.ts';
import { labelOf } from '../plan/plan-text.ts';
import { CollectedRows } from './collected-rows.ts';
import type { ImportRun } from './planned-state.ts';
import { sameFields } from './same-fields.ts';

/** Writes managed domains and regex filters: a row for each group. */
export async function applyRules(run: ImportRun): Promise<void> {
  const refusedBefore = await newlyRefusedFilters(run.tx, new Set());
  await applyTable(run, MANAGED_DOMAINS);
  const filters = await applyTable(run, REGEX_FILTERS);
  if (filters.size > 0) await switchOffRefused(run, filters, new Set(refusedBefore.map(({ id }) => id)));
}

/** Writes the rules of a table; returns the rules of the plan by the ids of their rows. */
async function applyTable(run: ImportRun, of: RuleTableName): Promise<Map<number, PlannedRule>> {
  const { tx } = run;
  const written = new Map<number, PlannedRule>();
  const known = new Map((await listRules(tx, of)).map((rule) => [keyOf(rule), rule]));
  const added = new CollectedRows((rules: readonly RuleFields[]) => insertRules(tx, of, rules));
  for (const rule of run.plan.rules) {
    if (rule.table !== of.table) continue;
    const { text, action, comment, enabled } = rule;
    const take = (stored: StoredRule): void => {
      known.set(keyOf(stored), stored);
      written.set(stored.id, rule);
    };
    for (const groupId of rule.groups === null ? [null] : run.groupIdsOf(rule.groups)) {
      const key = keyOf({ text, action, group_id: groupId });
      await added.settle(key);
      const before = known.get(key);
      if (before === undefined) {
        run.note(rule, 'done');
        const name = labelOf(text, 200) ?? 'imported';
        await added.add(key, { name, text, action, group_id: groupId, comment, enabled }, take);
        continue;
      }
      const change = { enabled, ...(comment === '' ? {} : { comment }) };
      const isSame = sameFields(before, change);
      take(isSame ? before : await updateRule(tx, of, before.id, change));
      run.note(rule, isSame ? null : 'changed');
    }
  }
  await added.flush();
  return written;
}

/** A filter beyond the budget of all is kept, but not in force. */
async function switchOffRefused(
  run: ImportRun,
  filters: ReadonlyMap<number, PlannedRule>,
  refusedBefore: ReadonlySet<number>,
): Promise<void> {
  for (const { id, reason } of await newlyRefusedFilters(run.tx, refusedBefore)) {
    const rule = filters.get(id);
    if (rule === undefined) continue;
    await updateRule(run.tx, REGEX_FILTERS, id, { enabled: false });
    run.remark(rule, `switched off: ${reason}`);
  }
}

function keyOf({
  text,
  action,
  group_id: groupId,
}: Pick<StoredRule, 'text' | 'action' | 'group_id'>): string {
  return `${action} ${groupId ?? '*'} ${text}`;
}
