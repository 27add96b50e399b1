/** A change of the configuration in two steps: it is stored while others wait, and comes into force while they go on. */
import type { Author } from '../../api/caller.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../change/change.ts';

/** What is to be done. */
export interface TurnedChange {
  /** In the transaction. */
  readonly work: (tx: Queryable) => Promise<Changed<null>>;
  /** Once it is stored. */
  readonly stored: () => void;
  /** Makes it active; `apply` alone does so unless given. */
  readonly follow?: (apply: () => Promise<void>) => Promise<void>;
  /** Where it is not. */
  readonly failed?: () => Promise<void>;
}

/** Another change of policy that is stored with one of the configuration. */
export interface ChangeTogether {
  /** In the transaction, before the keys are written; it may run again. */
  readonly work: (tx: Queryable) => Promise<Changed<null>>;
  /** Once both are stored. */
  readonly follow: (apply: () => Promise<void>) => Promise<void>;
}

/** Both as one change, by the summary of the first. */
export function joinedChanges(first: Changed<null>, second: Changed<null>): Changed<null> {
  const outside = [...(first.outside ?? []), ...(second.outside ?? [])];
  return { result: null, summary: first.summary ?? second.summary, outside };
}

/** A stored change. */
export interface InForce {
  /** Settles when it is in force; an object around it, so that it is not waited for by accident. */
  readonly isInForce: Promise<void>;
}

/** Resolves when the change is stored. */
export async function storeChange(
  policy: PolicyChanges,
  author: Author,
  { work, stored, failed, follow }: TurnedChange,
): Promise<InForce> {
  const isStored = Promise.withResolvers<undefined>();
  const change = policy.change(author, work, async (_result, apply) => {
    stored();
    isStored.resolve(undefined);
    await (follow === undefined ? apply() : follow(apply));
  });
  change.catch(isStored.reject);
  try {
    await isStored.promise;
  } catch (error) {
    await failed?.();
    throw error;
  }
  return { isInForce: change.then(() => undefined) };
}
