/** Writing down what the life of a list finds out: plain facts, and changes of content, which are revisions. */
import type { Database } from '../../db/database.ts';
import { changePolicy } from '../../policy/change.ts';
import type { Author } from '../../policy/change.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';
import { recordFacts } from './source-store.ts';

/** Facts about a URL that the source no longer has are nobody's: false then. */
export function recordSource(database: Database, source: StoredSource, facts: SourceFacts): Promise<boolean> {
  return recordFacts(database, source.id, source.url, facts);
}

/** Writes which copy of a list counts from now on; false where the source is gone or has another URL. */
export function recordContent(
  database: Database,
  source: StoredSource,
  facts: SourceFacts,
  by: { readonly author: Author; readonly what: string },
): Promise<boolean> {
  return changePolicy(database, by.author, async (tx) => {
    const result = await recordFacts(tx, source.id, source.url, facts);
    return { result, summary: result ? `${source.kind}list ${source.name}: ${by.what}` : null };
  });
}
