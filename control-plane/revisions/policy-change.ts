/**
 * The one way to change policy or lists: in a transaction that also writes the revision. Changes wait for
 * each other, so that revisions are in the order in which they came into force, and each holds exactly the
 * policy after its own change. Bringing it into force is the caller's next step.
 */
import type { Database, Queryable } from '../db/database.ts';
import { recordRevision } from './revision-store.ts';

/** Author of what Weir does by itself. */
export const SYSTEM_AUTHOR = 'system';

/** Key of the advisory lock, any number of ours. */
const LOCK = 0x57454952;

/** What a change comes to. */
export interface Changed<T> {
  readonly result: T;
  /** One line for people, e.g. `managed domain ads.example.org: created`; null = nothing changed. */
  readonly summary: string | null;
}

/** Runs `work` and writes its revision, both or neither. */
export function changePolicy<T>(
  database: Database,
  author: string,
  work: (tx: Queryable) => Promise<Changed<T>>,
): Promise<T> {
  return database.transactionInTurn(LOCK, async (tx) => {
    const { result, summary } = await work(tx);
    if (summary !== null) await recordRevision(tx, author, summary);
    return result;
  });
}
