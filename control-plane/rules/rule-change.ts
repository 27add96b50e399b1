/** Changes of rules that people write: stored with a revision, and in force when the promise resolves. */
import type { Author } from '../api/caller.ts';
import type { PolicyChanges } from '../policy/change.ts';
import type { Queryable } from '../db/database.ts';
import type { RuleChange, RuleFields, RuleTableName, StoredRule } from './rule-store.ts';
import * as store from './rule-store.ts';

/** Makes a change; throws if the rules would exceed their budget together. */
export type GuardChange = (tx: Queryable, work: () => Promise<StoredRule>) => Promise<StoredRule>;

interface Parts {
  readonly policy: PolicyChanges;
  readonly guard?: GuardChange;
}

/** Stores a rule and puts it into force. */
export function createRule(
  parts: Parts,
  author: Author,
  of: RuleTableName,
  rule: RuleFields,
): Promise<StoredRule> {
  return change(parts, author, of, 'created', (tx) =>
    guarded(parts, tx, () => store.insertRule(tx, of, rule)),
  );
}

/** Changes a rule and puts it into force. */
export function updateRule(
  parts: Parts,
  author: Author,
  of: RuleTableName,
  id: number,
  fields: RuleChange,
): Promise<StoredRule> {
  return change(parts, author, of, 'changed', (tx) =>
    guarded(parts, tx, () => store.updateRule(tx, of, id, fields)),
  );
}

/** Removes a rule and puts it out of force. */
export async function deleteRule(parts: Parts, author: Author, of: RuleTableName, id: number): Promise<void> {
  await change(parts, author, of, 'deleted', (tx) => store.deleteRule(tx, of, id));
}

function guarded({ guard }: Parts, tx: Queryable, work: () => Promise<StoredRule>): Promise<StoredRule> {
  return guard === undefined ? work() : guard(tx, work);
}

async function change(
  { policy }: Parts,
  author: Author,
  { noun }: RuleTableName,
  verb: string,
  work: (tx: Parameters<typeof store.insertRule>[0]) => Promise<StoredRule>,
): Promise<StoredRule> {
  return policy.change(author, async (tx) => {
    const result = await work(tx);
    return { result, summary: `${noun} ${result.text} (${result.action}): ${verb}` };
  });
}
