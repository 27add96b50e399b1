/** Changes domain and regex rules. A change is stored with a revision, and active when the promise resolves. */
import { codedAction, codedSubject, codedWord } from '../../../shared/policy/changes/change-codes.ts';
import type { Author } from '../../api/caller.ts';
import { RowFaults } from '../../api/row-faults.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { RuleChange, RuleFields, RuleTableName, StoredRule } from './rule-store.ts';
import * as store from './rule-store.ts';

/** Runs a change of one or several rules; throws if all rules together would exceed their budget. */
export type GuardChange = <Changed extends StoredRule | StoredRule[]>(
  tx: Queryable,
  work: () => Promise<Changed>,
) => Promise<Changed>;

const unguarded: GuardChange = (_tx, work) => work();

/** Stores a rule and applies it. */
export function createRule(
  policy: PolicyChanges,
  author: Author,
  of: RuleTableName,
  rule: RuleFields,
  guard = unguarded,
): Promise<StoredRule> {
  return change(policy, author, of, 'created', (tx) => guard(tx, () => store.insertRule(tx, of, rule)));
}

/** Changes a rule and applies the change. */
export function updateRule(
  policy: PolicyChanges,
  author: Author,
  of: RuleTableName,
  { id, ...fields }: RuleChange & { id: number },
  guard = unguarded,
): Promise<StoredRule> {
  return change(policy, author, of, 'changed', (tx) => guard(tx, () => store.updateRule(tx, of, id, fields)));
}

/** Deletes a rule and applies the change. */
export async function deleteRule(
  policy: PolicyChanges,
  author: Author,
  of: RuleTableName,
  id: number,
): Promise<void> {
  await change(policy, author, of, 'deleted', (tx) => store.deleteRule(tx, of, id));
}

/** Rules to create and delete together. */
export interface RuleBatch {
  readonly create: readonly RuleFields[];
  readonly delete: readonly number[];
}

/** Deletes rules and creates others, either all of them or none. The changes are active when the promise resolves. */
export function changeRules(
  policy: PolicyChanges,
  author: Author,
  of: RuleTableName,
  batch: RuleBatch,
  guard = unguarded,
): Promise<StoredRule[]> {
  return policy.change(author, async (tx) => {
    const faults = new RowFaults();
    const result = await guard(tx, async () => {
      await store.deleteRules(tx, of, batch.delete, faults);
      const created = await store.insertRules(tx, of, batch.create, faults);
      faults.throwIfAny();
      return created;
    });
    const counts = { created: batch.create.length, deleted: batch.delete.length };
    const subject = codedSubject(`${of.code}s`);
    return { result, summary: { subject, action: codedAction('created_and_deleted', counts) } };
  });
}

async function change(
  policy: PolicyChanges,
  author: Author,
  { code }: RuleTableName,
  verb: 'created' | 'changed' | 'deleted',
  work: (tx: Parameters<typeof store.insertRule>[0]) => Promise<StoredRule>,
): Promise<StoredRule> {
  return policy.change(author, async (tx) => {
    const result = await work(tx);
    const subject = codedSubject(code, { name: result.text, action: codedWord(result.action) });
    return { result, summary: { subject, action: codedAction(verb) } };
  });
}
