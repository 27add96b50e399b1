/**
 * Stores the results of fetching and compiling a list: data about the list, and changes of its content, which are
 * revisions.
 */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { CodedAction, CodedChange } from '../../../shared/policy/changes/change-codes.ts';
import type { Lease } from '../../storage/cluster/leases.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';
import { recordFacts, undoContent } from './source-store.ts';

/** Stores data about a source; if it no longer has this URL, does nothing and returns false. */
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
 * As part of a change, writes which copy is active from now on. Returns false if the source was deleted or its URL or
 * copies have changed.
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
 * is the lease under which that copy was fetched.
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
