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
  /** Where it is not. */
  readonly failed?: () => Promise<void>;
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
  { work, stored, failed }: TurnedChange,
): Promise<InForce> {
  const isStored = Promise.withResolvers<undefined>();
  const change = policy.change(author, work, async (_result, apply) => {
    stored();
    isStored.resolve(undefined);
    await apply();
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
