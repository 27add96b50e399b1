/** Stores what the life of a list finds out: plain facts, and changes of content, which are revisions. */
import type { Database, Queryable } from '../../db/database.ts';
import type { Changed, PolicyChanges } from '../../policy/change.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';
import { recordFacts } from './source-store.ts';

/** False, without effect, if the source no longer has this URL. */
export function recordSource(database: Database, source: StoredSource, facts: SourceFacts): Promise<boolean> {
  return recordFacts(database, source.id, source.url, facts);
}

/**
 * Writes which copy Weir found and counts from now on; the compile comes later. False if the source is gone or has
 * another URL.
 */
export function recordContent(
  changes: PolicyChanges,
  source: StoredSource,
  facts: SourceFacts,
  what: string,
): Promise<boolean> {
  return changes.record((tx) => writeContent(tx, source, facts, what));
}

/** The same within a change. */
export async function writeContent(
  tx: Queryable,
  source: StoredSource,
  facts: SourceFacts,
  what: string,
): Promise<Changed<boolean>> {
  const result = await recordFacts(tx, source.id, source.url, facts);
  return { result, summary: result ? `${source.kind}list ${source.name}: ${what}` : null };
}
