/** Writes the managed domains and regex filters of a plan. */
import { newlyRefusedFilters } from '../../rules/filter-budget.ts';
import { insertRule, listRules, MANAGED_DOMAINS, REGEX_FILTERS, updateRule } from '../../rules/rule-store.ts';
import type { RuleTableName, StoredRule } from '../../rules/rule-store.ts';
import type { PlannedRule } from '../plan/import-plan.ts';
import { labelOf } from '../plan/plan-text.ts';
import type { ImportRun, Outcome } from './planned-state.ts';
import { sameFields } from './same-fields.ts';

/** Writes managed domains and regex filters: a row for each group. */
export async function applyRules(run: ImportRun): Promise<void> {
  const filters = new Map<number, PlannedRule>();
  const refusedBefore = await newlyRefusedFilters(run.tx, new Set());
  for (const table of [MANAGED_DOMAINS, REGEX_FILTERS]) {
    const known = new Map((await listRules(run.tx, table)).map((rule) => [keyOf(rule), rule]));
    for (const rule of run.plan.rules) {
      if (rule.table !== table.table) continue;
      for (const groupId of rule.groups === null ? [null] : run.groupIdsOf(rule.groups)) {
        const { stored, outcome } = await applyRule(run, table, rule, groupId, known);
        known.set(keyOf(stored), stored);
        run.note(rule, outcome);
        if (table === REGEX_FILTERS) filters.set(stored.id, rule);
      }
    }
  }
  if (filters.size > 0) await switchOffRefused(run, filters, new Set(refusedBefore.map(({ id }) => id)));
}

async function applyRule(
  { tx }: ImportRun,
  of: RuleTableName,
  rule: PlannedRule,
  groupId: number | null,
  known: ReadonlyMap<string, StoredRule>,
): Promise<{ stored: StoredRule; outcome: Outcome }> {
  const { text, action, comment, enabled } = rule;
  const before = known.get(keyOf({ text, action, group_id: groupId }));
  if (before === undefined) {
    const name = labelOf(text, 200) ?? 'imported';
    const stored = await insertRule(tx, of, { name, text, action, group_id: groupId, comment, enabled });
    return { stored, outcome: 'done' };
  }
  const change = { enabled, ...(comment === '' ? {} : { comment }) };
  if (sameFields(before, change)) return { stored: before, outcome: null };
  return { stored: await updateRule(tx, of, before.id, change), outcome: 'changed' };
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
