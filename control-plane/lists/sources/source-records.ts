/** Stores the results of the life cycle of a list: plain data, and changes of content, which are revisions. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedAction, CodedChange } from '../../../shared/policy/changes/change-codes.ts';
import type { Lease } from '../../storage/cluster/leases.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';
import { recordFacts, undoContent } from './source-store.ts';

/** Returns false, without effect, if the source no longer has this URL. */
export function recordSource(database: Database, source: StoredSource, facts: SourceFacts): Promise<boolean> {
  return recordFacts(database, source.id, source.url, facts);
}

/** Description of a change of a list. */
export function listChange(
  { kind, name }: Pick<StoredSource, 'kind' | 'name'>,
  action: CodedAction,
): CodedChange {
  return { subject: codedSubject(`${kind}list`, { name }), action };
}

/**
 * Writes which copy is active from now on, as part of a change. False if the source was deleted, or has another URL or
 * other copies.
 */
export async function writeContent(
  tx: Queryable,
  source: StoredSource,
  facts: SourceFacts,
  action: CodedAction,
): Promise<Changed<boolean>> {
  const result = await recordFacts(tx, source.id, source.url, facts, source);
  return { result, summary: result ? listChange(source, action) : null };
}

/**
 * Activates the previous copy again, because this node could not compile the copy that it has just activated. `lease`
 * is the one under which that copy was fetched.
 */
export function undoRefused(
  changes: PolicyChanges,
  before: StoredSource,
  refused: string,
  lease?: Lease,
): Promise<undefined> {
  return changes.record(async (tx) => {
    await lease?.confirm(tx);
    await undoContent(tx, before, refused);
    return { result: undefined, summary: listChange(before, codedAction('update_rejected')) };
  });
}
