/**
 * The one way to change policy or lists: in a transaction that also writes the revision. Changes wait for
 * each other, so that revisions are in the order in which they came into force, and each holds exactly the
 * policy after its own change. A change that changes nothing makes none. Bringing it into force is the caller's next
 * step.
 */
import type { Database, Queryable } from '../db/database.ts';
import { hasChanged, policyBefore } from './change-detection.ts';
import { recordRevision } from './revision-store.ts';
import type { RevisionNote } from './revision-store.ts';

/** Author of what Weir does by itself. */
export const WEIR = Symbol('weir');

/** A person's user name, or Weir itself. */
export type Author = string | typeof WEIR;

/** How Weir itself is shown. */
const OWN_NAME = 'system';

/** Key of the advisory lock, any number of ours. */
const LOCK = 0x57454952;

/** What a change comes to. */
export interface Changed<T> {
  readonly result: T;
  /** One line for people, e.g. `managed domain ads.example.org: created`; null = nothing changed. */
  readonly summary: string | null;
  /** Of what is no part of revisions, such as clients: the work itself knows that something has changed. */
  readonly isOutside?: boolean;
}

/** Runs `work` and writes its revision, both or neither. */
export async function changePolicy<T>(
  database: Database,
  author: Author,
  work: (tx: Queryable) => Promise<Changed<T>>,
): Promise<T> {
  return (await changeWithRevision(database, author, work)).result;
}

/** The same; tells the id of the revision, null where nothing has changed. */
export function changeWithRevision<T>(
  database: Database,
  author: Author,
  work: (tx: Queryable) => Promise<Changed<T>>,
): Promise<{ readonly result: T; readonly revision: number | null }> {
  return database.transactionInTurn(LOCK, async (tx) => {
    const before = await policyBefore(tx);
    const { result, summary, isOutside = false } = await work(tx);
    const isChange = summary !== null && (isOutside || (await hasChanged(tx, before)));
    const revision = isChange ? await recordRevision(tx, noteOf(author, summary)) : null;
    return { result, revision };
  });
}

function noteOf(author: Author, summary: string): RevisionNote {
  return author === WEIR ? { author: OWN_NAME, isOwn: true, summary } : { author, isOwn: false, summary };
}
